import { claimPort } from '../system/ports.mjs';

/**
 * Below those that systems give to connections: an engine that is killed finds its port free again, and
 * the tables of Temporal hold ports up to 32,767.
 */
const FIRST = 21_000;

export function claimLowPort() {
  return claimPort(FIRST);
}
