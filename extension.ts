import type { ApiExtension } from './api/extension.js';
import type { CliExtension } from './cli/extension.js';
import type { WorkerExtension } from './worker/extension.js';

/**
 * An optional capability: each host takes what concerns it. Pass the same to `createApi`, `createAgentExecutor` and
 * `createAgentWorker` as `extensions`, or name its file in the setting `EXTENSIONS`.
 */
export interface Extension extends WorkerExtension, ApiExtension, CliExtension {}
