/** The driver of the stores' own suite, for tests of what stands on the stores. */
export {
  AGENT,
  assistantRow,
  newCall,
  newNonce,
  newSessionId,
  textIn,
  userMessage,
} from '../../stores/conformance/fixtures.js';
export { drive, type SessionDriver } from '../../stores/conformance/session-driver.js';
