interface Poller {
  identity?: string | null;
  lastAccessTime?: Timestamp | null;
}

/** Of Temporal's API. */
interface Timestamp {
  seconds?: unknown;
  nanos?: number | null;
}

/** Workers ask again at least this often; Temporal lists those that went for minutes longer. */
export const POLL_MS = 70_000;

/** When a poller asked last, ms since the epoch by Temporal's clock; 0 if none did. */
export function lastPoll(pollers: readonly Poller[]): number {
  return Math.max(0, ...pollers.map(({ lastAccessTime }) => toMs(lastAccessTime)));
}

/** ms since the epoch; 0 for none. */
export function toMs(time: Timestamp | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1_000 + (time?.nanos ?? 0) / 1_000_000;
}
