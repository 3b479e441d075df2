import type { ApiClient } from './api/client.js';
import type { Terminal } from './terminal.js';
import type { ExitCode } from './failure.js';

/** What the commands work with; `main.ts` puts it together. */
/** Where and how a command asks. */
export interface ConnectOptions {
  url?: string;
  via?: 'cli' | 'mcp';
  tenant?: string;
  idempotencyKey?: string;
}

export interface Cli {
  terminal: Terminal;
  /** A client of the API; default: at `HELIX_URL`, else where `npm start` serves. */
  connect: (options?: ConnectOptions) => ApiClient;
  /** The environment, for `doctor`, which reads the settings of API and workers. */
  env: Record<string, string | undefined>;
  /** ms since the epoch. */
  now: () => number;
  /** The exit code of a command that has done its work; default: 0. */
  exitWith: (code: ExitCode) => void;
  /** From now on Ctrl-C is for the command, which stops what it has started and then ends. The second one kills it. */
  takeInterrupts: (onInterrupt?: () => void) => void;
  /** The process ends with the command, whatever a file that it has loaded holds open. */
  endWithCommand: () => void;
}
