/** Waits for an external condition; shared with the stores' own suite. */
export { eventually as until } from '../../store/conformance/assertions.js';
