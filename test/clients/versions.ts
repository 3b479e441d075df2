import type { Client } from './clients.js';

type Version = Pick<Client, 'ai'>;

/** True from the first version on, up to but without the second. */
function isWithin({ ai }: Version, from: string, below = '99.0.0'): boolean {
  return compare(ai, from) >= 0 && compare(ai, below) < 0;
}

function compare(version: string, other: string): number {
  return version.localeCompare(other, 'en', { numeric: true });
}

/** Resumes with a copy of the newest message and adds what is replayed to it. */
export function addsReplayToCopy(client: Version): boolean {
  return isWithin(client, '6.0.0', '6.0.250') || isWithin(client, '7.0.0', '7.0.61');
}

/**
 * After a connection broke it resumes with what it has; since some version its transport
 * announces that a replay starts over, which the hook of 6 does not pass on.
 */
export function addsReplayAfterDrop(client: Version): boolean {
  return isWithin(client, '6.0.295', '7.0.0') || isWithin(client, '7.0.120', '7.0.138');
}

/** Requests the reply automatically when a page whose connection broke is looked at again. */
export function reconnectsWhenShown(client: Version): boolean {
  return isWithin(client, '6.0.304', '7.0.0') || isWithin(client, '7.0.138');
}
