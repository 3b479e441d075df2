import type { ApiClient } from './api/client.js';
import type { Terminal } from './terminal.js';
import type { ExitCode } from './failure.js';

/** Server and tenant that a command talks to. */
export interface ConnectOptions {
  url?: string;
  via?: 'cli' | 'mcp';
  tenant?: string;
  idempotencyKey?: string;
}

export interface Cli {
  terminal: Terminal;
  /** Creates an API client. Default server: `HELIX_URL`, else the address of `npm start`. */
  connect: (options?: ConnectOptions) => ApiClient;
  /** The environment; `doctor` reads the settings of API and workers from it. */
  env: Record<string, string | undefined>;
  now: () => number;
  exitWith: (code: ExitCode) => void;
  /** Hands Ctrl-C to the command, which stops its work and then ends. A second Ctrl-C kills it. */
  takeInterrupts: (onInterrupt?: () => void) => void;
  /** Makes the process exit with the command, even if a loaded file keeps handles open. */
  endWithCommand: () => void;
}
