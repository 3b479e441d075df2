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
export function judgeClocks({ redis, temporal }: Clocks): Verdict[] {
  const clocks = verdictsOn('clocks');
  const offsets = [
    ...(redis === undefined ? [] : [{ name: 'Redis', ...offsetOf(redis) }]),
    ...(temporal === undefined ? [] : [{ name: 'Temporal', ...offsetOf(temporal) }]),
  ];
  if (offsets.length === 0) return [];
  const off = offsets.filter(({ ms, slack }) => Math.abs(ms) - slack > NOTICED_MS);
  const names = ['This machine', ...offsets.map(({ name }) => name)];
  const [first] = off;
  if (first === undefined)
    return [clocks.ok(`${names.join(', ').replace(/, (\w+)$/, ' and $1')} agree.`)];
  const level = off.some(({ ms }) => Math.abs(ms) > WRONG_MS) ? 'fail' : 'warn';
  const isHere = off.length === offsets.length && off.length > 1 && isSameSide(off);
  const finding = off
    .map(
      ({ name, ms }) => `${name} is ${shownDuration(Math.abs(ms))} ${ms > 0 ? 'ahead' : 'behind'}`,
    )
    .join(', ');
  return [
    clocks[level](
      `${finding} of this machine: deadlines and sign-ins end at the wrong time.`,
      `Turn on NTP (timedatectl set-ntp true) ${
        isHere
          ? 'on this machine'
          : where(
              off.map(({ name }) => name),
              offsets.length,
            )
      }.`,
    ),
  ];
}

/** Returns the estimated offset; the true one lies within `slack` of `ms`. */
function offsetOf({ at, askedAt, repliedAt }: ClockReading): { ms: number; slack: number } {
  return { ms: Math.round(at - (askedAt + repliedAt) / 2), slack: (repliedAt - askedAt) / 2 };
}

function isSameSide(off: { ms: number }[]): boolean {
  return off.every(({ ms }) => ms > 0) || off.every(({ ms }) => ms < 0);
}

/** Names both machines if only one engine could be compared, as either may be wrong. */
function where(names: string[], compared: number): string {
  const servers = `the servers of ${names.join(' and ')}`;
  return compared === 1 ? `on this machine and ${servers}` : `on ${servers}`;
}
