import { endings } from './endings.cjs';

export default async function globalTeardown() {
  // Of this process, which has run the files itself if there were few.
  await Promise.all(endings.map((close) => close()));
  await Promise.all(globalThis.helixTestEngines.map((engine) => engine.close()));
}
