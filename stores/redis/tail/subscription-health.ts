import type { Cluster, Redis } from 'ioredis';
import type { LocalSubscriber, Subscriber } from './channels.js';

/**
 * Watches a subscription connection. `onMissed` is called when messages may have been missed: when
 * a connection breaks, and when its subscriptions are renewed.
 */
export interface SubscriptionHealth {
  /**
   * False while messages may come from a different server than before; they must be dropped until
   * the next miss.
   */
  isContinuous: () => boolean;
}

export function watchSubscriptions(
  subscriber: Subscriber,
  channels: () => string[],
  onMissed: () => void,
): SubscriptionHealth {
  return 'nodes' in subscriber
    ? watchCluster(subscriber, channels, onMissed)
    : watchOne(subscriber, onMissed);
}

function watchOne(subscriber: Redis | LocalSubscriber, onMissed: () => void): SubscriptionHealth {
  let isContinuous = true;
  subscriber.on('close', () => {
    isContinuous = false;
    onMissed();
  });
  // The ping is answered after the renewed subscriptions, so no message is lost between them and
  // the followers' next read of the log.
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
 * A cluster has one connection per node. The others continue while one is renewed. Followers of
 * sessions on the broken node read the log first, from its new owner.
 */
function watchCluster(
  subscriber: Cluster,
  channels: () => string[],
  onMissed: () => void,
): SubscriptionHealth {
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
