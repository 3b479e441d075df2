import type { Store } from '../../store/contract/store.js';
import type { StreamManager } from '../../store/log/stream-manager.js';
import {
  createInProcessExecutor,
  type InProcessExecutor,
  type InProcessOptions,
} from './create-executor.js';

/** The executor in one process under the name that the Helix packages use. */
export type JSAgentExecutor = InProcessExecutor;

/**
 * As `createInProcessExecutor`, with the arguments of the Helix packages. The third one, an adapter
 * for models, has no effect: agents name models of the AI SDK. Agents become known when they are
 * passed to `execute` or `handleChatStream`; `recover` needs them in `options.agents`.
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
