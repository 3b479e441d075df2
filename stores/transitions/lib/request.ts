import { redis, toNumber } from './host.js';

/** A reply that consists of its kind only. */
export function only(kind: string): string {
  return `{"kind":"${kind}"}`;
}

/** A stored whole number; 0 if absent. */
export function num(value: string | undefined): number {
  return value === undefined ? 0 : toNumber(value);
}

/** Milliseconds since the epoch by Redis' clock: reservations do not depend on the clocks of callers. */
export function storeNow(): number {
  const [seconds, microseconds] = redis.call('TIME');
  return toNumber(seconds) * 1000 + Math.floor(toNumber(microseconds) / 1000);
}
