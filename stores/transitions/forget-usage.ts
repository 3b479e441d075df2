import { formatInt, redis } from './lib/host.js';
import { ownerAt, type Owner } from './lib/owner.js';
import { only } from './lib/request.js';
import { addToDay } from './lib/used.js';

export interface ForgetUsageRequest {
  /** `20261130`. */
  day: string;
}

/** Stands for all users that were forgotten; parts of users begin with `u:`. */
export const FORGOTTEN = 'f:';

/**
 * forget usage: takes a user out of the sums of a day; what the user has used is added to the sums of
 * those that were forgotten before.
 *
 * @returns `forgotten` · `unknown`, the user has no sums of that day
 */
export function forgetUsage(owner: Owner, { day }: ForgetUsageRequest): string {
  for (const period of [day, day.slice(0, 6)]) {
    redis.call('HDEL', `${owner.spend}${period}`, owner.user);
  }
  const used = `${owner.used}${day}`;
  if (redis.call('HDEL', `${owner.users}${day}`, owner.user) === 0) return only('unknown');
  const forgotten = ownerAt(owner.base, FORGOTTEN);
  for (const by of redis.call('HKEYS', used)) {
    const sums = redis.call('HGET', used, by);
    if (sums !== false) addToDay(forgotten, day, by, sums);
  }
  const left = redis.call('PTTL', used);
  if (left > 0) redis.call('PEXPIRE', `${forgotten.used}${day}`, formatInt(left));
  redis.call('UNLINK', used);
  return only('forgotten');
}
