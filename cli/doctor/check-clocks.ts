import type { ClockReading } from '../../protocol/time.js';
import { shownDuration } from '../output/shown-text.js';
import { verdictsOn, type Verdict } from './verdict.js';

/** Clocks of the engines as this machine read them; absent if one could not be read. */
export interface Clocks {
  redis?: ClockReading | undefined;
  temporal?: ClockReading | undefined;
}

/** From the first difference, ms, people notice wrong deadlines; from the second, sign-ins fail too. */
const NOTICED_MS = 2_000;
const WRONG_MS = 10_000;

/** Compares the clocks of this machine, Redis and Temporal, and names the odd one out. */
export function checkClocks({ redis, temporal }: Clocks): Verdict[] {
  const clocks = verdictsOn('clocks');
  const offsets = [
    ...(redis === undefined ? [] : [{ name: 'Redis', ...offsetOf(redis) }]),
    ...(temporal === undefined ? [] : [{ name: 'Temporal', ...offsetOf(temporal) }]),
  ];
  if (offsets.length === 0) return [];
  const off = offsets.filter(({ ms, slack }) => Math.abs(ms) - slack > NOTICED_MS);
  if (off.length === 0) {
    const names = ['This machine', ...offsets.map(({ name }) => name)].join(', ');
    return [clocks.ok(`${names.replace(/, (\w+)$/, ' and $1')} agree.`)];
  }
  const level = off.some(({ ms }) => Math.abs(ms) > WRONG_MS) ? 'fail' : 'warn';
  const differences = off.map(({ name, ms }) => {
    const side = ms > 0 ? 'ahead' : 'behind';
    return `${name} is ${shownDuration(Math.abs(ms))} ${side}`;
  });
  const isOneSided = off.every(({ ms }) => ms > 0) || off.every(({ ms }) => ms < 0);
  const servers = `the servers of ${off.map(({ name }) => name).join(' and ')}`;
  const isHere = off.length > 1 && isOneSided;
  // If only one engine could be compared, either machine may be wrong.
  const doubted = offsets.length === 1 ? `this machine and ${servers}` : servers;
  return [
    clocks[level](
      `${differences.join(', ')} of this machine: deadlines and sign-ins end at the wrong time.`,
      `Turn on NTP (timedatectl set-ntp true) on ${isHere ? 'this machine' : doubted}.`,
    ),
  ];
}

/** Returns the estimated offset; the true one lies within `slack` of `ms`. */
function offsetOf({ at, askedAt, repliedAt }: ClockReading): { ms: number; slack: number } {
  return { ms: Math.round(at - (askedAt + repliedAt) / 2), slack: (repliedAt - askedAt) / 2 };
}
