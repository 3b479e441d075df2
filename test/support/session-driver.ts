import type { Changes, Store } from '../../store/contract/store.js';

/** The driver of the stores' own suite, for tests of the layers above the stores. */
export {
  AGENT,
  assistantRow,
  newCall,
  newNonce,
  newSessionId,
  textIn,
  userMessage,
} from '../../store/conformance/fixtures.js';
export { drive, type SessionDriver } from '../../store/conformance/session-driver.js';

/** Replaces some changes of a store, for its listeners too. */
export function changing(store: Store, instead: <C extends Changes>(changes: C) => C): Store {
  return { ...instead(store), listening: (listener) => instead(store.listening(listener)) };
}
