/**
 * Waits for an external condition for a minute: long enough for a busy machine, and shorter than the
 * heartbeats' time-out of 90 s, which would hide a takeover that fails.
 */
export { eventually as until } from '../../store/conformance/assertions.js';
export { untilDayLasts } from '../../store/conformance/assertions.js';
