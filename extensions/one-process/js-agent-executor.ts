import type { Store } from '../../store/contract/store.js';
import type { StreamManager } from '../../store/log/stream-manager.js';
import {
  createInProcessExecutor,
  type InProcessExecutor,
  type InProcessOptions,
} from './create-executor.js';

/** The in-process executor under its name in the Helix packages. */
export type JSAgentExecutor = InProcessExecutor;

/**
 * Creates the same executor as `createInProcessExecutor`, with the arguments of the Helix packages. The
 * third argument, an LLM adapter, has no effect: agents name models of the AI SDK. Agents passed to
 * `execute` or `handleChatStream` are registered then; `recover` needs them in `options.agents`.
 */
export const JSAgentExecutor = class JSAgentExecutor {
  constructor(
    store: Store,
    streamManager: StreamManager,
    _adapter?: unknown,
    options?: Omit<InProcessOptions, 'stores'>,
  ) {
    Object.assign(this, createInProcessExecutor({ ...options, stores: { store, streamManager } }));
  }
} as unknown as new (
  store: Store,
  streamManager: StreamManager,
  adapter?: unknown,
  options?: Omit<InProcessOptions, 'stores'>,
) => JSAgentExecutor;
