import { endings } from './endings.cjs';

export default async function globalTeardown() {
  // This process runs the files itself if there are few, and then has endings of its own.
  await Promise.all(endings.map((close) => close()));
  await Promise.all(globalThis.helixTestEngines.map((engine) => engine.close()));
}
