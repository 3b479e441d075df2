import { addInt64, exact, type Int64 } from './integers.js';
import { invalidExpire } from './reply.js';

export type TimeUnit = 'seconds' | 'milliseconds';

const INT64_RANGE = 2n ** 63n;
/** So many seconds or milliseconds are far from where a number is not exact. */
const PLAIN_LIMIT = 1e12;

/** When something expires, milliseconds since the epoch. `command` refuses what 64 bits do not hold. */
export function expiryAfter(amount: Int64, unit: TimeUnit, base: number, command: string): number {
  const factor = unit === 'seconds' ? 1000 : 1;
  if (typeof amount === 'number' && Math.abs(amount) < PLAIN_LIMIT) return base + amount * factor;
  const ms = BigInt(amount) * BigInt(factor);
  const fits = ms < INT64_RANGE && ms >= -INT64_RANGE;
  const sum = fits ? addInt64(exact(ms), Math.floor(base)) : undefined;
  if (sum === undefined) throw invalidExpire(command);
  return Number(sum);
}
