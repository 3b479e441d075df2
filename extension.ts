import type { ApiExtension } from './api/extension.js';
import type { CliExtension } from './cli/extension.js';
import type { WorkerExtension } from './worker/extension.js';

/**
 * An optional capability. Each host uses the members that concern it. Pass the same one to
 * `createApi`, `createAgentExecutor` and `createAgentWorker` as `extensions`, or name its file in
 * the setting `EXTENSIONS`.
 */
export interface Extension extends WorkerExtension, ApiExtension, CliExtension {}
