import type { Cluster, Redis } from 'ioredis';
import type { LocalSubscriber, Subscriber } from './subscriber.js';

/**
 * Watches a connection for subscriptions. `onMissed` is called when messages may have been missed:
 * when a connection breaks, and when the subscriptions are in place again.
 */
export interface Hearing {
  /** False while what arrives may come from another server than before, and has to wait for that. */
  isContinuous: () => boolean;
}

export function watchHearing(
  subscriber: Subscriber,
  channels: () => string[],
  onMissed: () => void,
): Hearing {
  return 'nodes' in subscriber
    ? watchCluster(subscriber, channels, onMissed)
    : watchOne(subscriber, onMissed);
}

function watchOne(subscriber: Redis | LocalSubscriber, onMissed: () => void): Hearing {
  let isContinuous = true;
  subscriber.on('close', () => {
    isContinuous = false;
    onMissed();
  });
  // The ping is answered after the renewed subscriptions, so that nothing falls between them and
  // the followers' next look into the log.
  subscriber.on('ready', () => {
    void subscriber
      .ping()
      .catch(() => undefined)
      .then(() => {
        isContinuous = subscriber.status === 'ready';
        onMissed();
      });
  });
  return { isContinuous: () => isContinuous };
}

/**
 * A cluster has a connection per node. Those that live go on while another is renewed: whoever
 * follows a session of the broken one reads the log before anything else, from the new owner.
 */
function watchCluster(
  subscriber: Cluster,
  channels: () => string[],
  onMissed: () => void,
): Hearing {
  subscriber.on('-node', onMissed);
  subscriber.on('-subscriber', onMissed);
  subscriber.on('close', onMissed);
  // ioredis does not wait for the replies to its own renewed subscriptions.
  subscriber.on('subscribersReady', () => {
    const renewed = channels().map((channel) => subscriber.ssubscribe(channel));
    void Promise.allSettled(renewed).then(onMissed);
  });
  return { isContinuous: () => true };
}
