/** Waits for something that happens elsewhere; the same as the stores' own suite uses. */
export { eventually as until } from '../../store/conformance/assertions.js';
