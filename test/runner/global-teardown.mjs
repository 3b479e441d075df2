import { endings } from './endings.cjs';

/** Time for jest to set the exit code, ms. */
const ENDS_WITHIN_MS = 500;

export default async function globalTeardown() {
  // This process runs the files itself if there are few, and then has endings of its own.
  await Promise.all(endings.map((close) => close()));
  await Promise.all(globalThis.helixTestEngines.map((engine) => engine.close()));
  // Like the other processes, this one ends even if its files have left something open.
  setTimeout(() => {
    process.stderr.write('Something is still open after the last file; the process ends.\n');
    process.exit();
  }, ENDS_WITHIN_MS).unref();
}
