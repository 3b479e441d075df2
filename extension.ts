import type { ApiExtension } from './api/extension.js';
import type { Cli, Command } from './cli/cli.js';
import type { WorkerExtension } from './worker/extension.js';

/**
 * An optional capability: each host takes what concerns it. Pass the same to `createApi`, `createAgentExecutor` and
 * `createAgentWorker` as `extensions`.
 */
export interface Extension extends WorkerExtension, ApiExtension {
  /** Commands of the command line. */
  commands?: (cli: Cli) => readonly Command[];
}
