import type { Cluster } from 'ioredis';
import type { RedisConnection } from './clients.js';
import { mastersOf } from './masters.js';

/** Connections are asked for a sign this often. */
const PULSE_MS = 1_500;
/** Of a cluster's channels, as many are asked about each time: its nodes are hardly more. */
const CHANNELS_AT_ONCE = 16;

/**
 * Sends a command again and again until the connection is closed: an unanswered command is how a client
 * notices that packets vanish, and a subscriber, or an idle process, sends nothing else.
 */
export function startPulse(connection: RedisConnection): void {
  every(PULSE_MS, connection, () => {
    for (const node of mastersOf(connection)) {
      if (node.status === 'ready') node.ping().catch(() => undefined);
    }
  });
}

/**
 * A cluster keeps its connections for subscriptions to itself: leaving a channel that was never
 * entered, in the slot of one that was, goes through the same connection and changes nothing.
 */
export function startChannelPulse(connection: Cluster, channels: () => string[]): void {
  let at = 0;
  every(PULSE_MS, connection, () => {
    const names = channels();
    for (let n = 0; n < Math.min(names.length, CHANNELS_AT_ONCE); n += 1) {
      at = (at + 1) % names.length;
      connection.sunsubscribe(`${names[at] ?? ''}:pulse`).catch(() => undefined);
    }
  });
}

function every(ms: number, connection: RedisConnection, act: () => void): void {
  const timer = setInterval(act, ms);
  timer.unref();
  connection.once('end', () => {
    clearInterval(timer);
  });
}
