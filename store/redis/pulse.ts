import type { Cluster, Redis } from 'ioredis';

/** Interval between pings on each connection. */
const PULSE_MS = 1_500;
/** Maximum number of channels probed at a time, above the number of a cluster's nodes. */
const CHANNELS_AT_ONCE = 16;

/** Returns every master of a cluster, or the one server. */
export function mastersOf(redis: Redis | Cluster): Redis[] {
  return 'nodes' in redis ? redis.nodes('master') : [redis];
}

/** Pings until the connection is closed, since a client notices vanishing packets only by an unanswered command. */
export function startPulse(connection: Redis | Cluster): void {
  every(PULSE_MS, connection, () => {
    for (const node of mastersOf(connection)) {
      if (node.status === 'ready') node.ping().catch(() => undefined);
    }
  });
}

/**
 * Probes the subscription connections of a cluster, which ioredis does not expose: unsubscribing from a channel that
 * was never subscribed, in the slot of one that was, uses the same connection and changes nothing.
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

function every(ms: number, connection: Redis | Cluster, act: () => void): void {
  const timer = setInterval(act, ms);
  timer.unref();
  connection.once('end', () => {
    clearInterval(timer);
  });
}
