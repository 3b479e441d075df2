import type { Client } from './clients.js';

type Version = Pick<Client, 'ai'>;

/** Returns true for versions from `from`, inclusive, to `below`, exclusive. */
function isWithin({ ai }: Version, from: string, below = '99.0.0'): boolean {
  return compare(ai, from) >= 0 && compare(ai, below) < 0;
}

function compare(version: string, other: string): number {
  return version.localeCompare(other, 'en', { numeric: true });
}

/** True if the client resumes with a copy of the newest message and appends the replay to it. */
export function addsReplayToCopy(client: Version): boolean {
  return isWithin(client, '6.0.0', '6.0.250') || isWithin(client, '7.0.0', '7.0.61');
}

/**
 * True if the client resumes after a broken connection with its current text. Newer transports
 * announce that a replay starts over, but the hook of major 6 ignores that.
 */
export function addsReplayAfterDrop(client: Version): boolean {
  return isWithin(client, '6.0.295', '7.0.0') || isWithin(client, '7.0.120', '7.0.138');
}

/** True if a page with a broken connection requests the reply when it is shown again. */
export function reconnectsWhenShown(client: Version): boolean {
  return isWithin(client, '6.0.304', '7.0.0') || isWithin(client, '7.0.138');
}
