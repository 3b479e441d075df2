import { EXIT } from '../exit-codes.js';
import { CliFailure } from '../failure.js';

/** What `scripts/start/own-agents.mjs` does, which runs the same programs as `npm start`. */
export interface Launcher {
  startDevelopment: (options: {
    file: string | undefined;
    command: readonly string[];
  }) => Promise<void>;
  /** Resolves to the exit code of the process. */
  startAlone: (role: 'api' | 'worker', options: { file: string | undefined }) => Promise<number>;
}

/** From dist/cli/local, in the package and in a clone alike. */
const LAUNCHER = new URL('../../../scripts/start/own-agents.mjs', import.meta.url).href;

export async function loadLauncher(): Promise<Launcher> {
  return (await import(LAUNCHER)) as Launcher;
}

/** Failures that the person at the keyboard can act on, as sentences with an exit code. */
export async function inSentences<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // It was stopped while it started.
    if (error.name === 'AbortError') return undefined;
    if (error.name === 'UsageError') throw new CliFailure(error.message, EXIT.usage);
    if (error.name === 'UserError') throw new CliFailure(error.message, EXIT.unavailable);
    throw error;
  }
}
