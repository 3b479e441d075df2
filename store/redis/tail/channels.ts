import type { Cluster, Redis } from 'ioredis';
import type { RedisConnection } from '../clients.js';
import { callRedis } from '../errors.js';
import { startChannelPulse } from '../pulse.js';

/** A connection for subscriptions, or its in-process equivalent. */
export type Subscriber = RedisConnection | LocalSubscriber;

export interface LocalSubscriber {
  on: (event: string, listener: (...args: string[]) => void) => unknown;
  ssubscribe: (channel: string) => Promise<unknown>;
  sunsubscribe: (channel: string) => Promise<unknown>;
  ping: () => Promise<unknown>;
  options: { keyPrefix?: string | undefined };
  status: string;
}

/** A channel stays subscribed for this long after its last member left, since the next step often follows at once. */
const LINGER_MS = 2_000;

/** Members of sharded channels on one connection. Subscribes with the first member and unsubscribes after the last. */
export function createChannels<M>(
  subscriber: Subscriber,
  deliver: (members: Iterable<M>, message: string) => void,
) {
  if ('nodes' in subscriber && subscriber.options.shardedSubscribers !== true)
    throw new TypeError('A Cluster for subscriptions needs the option shardedSubscribers: true.');
  const members = new Map<string, Set<M>>();
  const subscribed = new Map<string, Promise<void>>();
  const lingering = new Map<string, NodeJS.Timeout>();
  const prefix = subscriber.options.keyPrefix ?? '';

  for (const event of ['smessage', 'message']) {
    subscriber.on(event, (channel: string, message: string) => {
      const present = members.get(channel.slice(prefix.length));
      if (present !== undefined && present.size > 0) deliver(present, message);
    });
  }

  if ('nodes' in subscriber) {
    // The connections of a cluster renew their own subscriptions.
    startChannelPulse(subscriber, () => [...subscribed.keys()]);
  } else {
    subscriber.on('ready', () => {
      for (const channel of subscribed.keys()) {
        ask(channel).catch(() => undefined);
      }
    });
  }

  /** True before Redis 7, whose channels have no shards. */
  let isOld = false;
  function ask(channel: string): Promise<unknown> {
    const asked = subscriber.ssubscribe(channel);
    // A newer server may have taken its place.
    if (isOld) return Promise.any([asked, (subscriber as Redis).subscribe(channel)]);
    return asked.catch(async (error: unknown) => {
      isOld ||= /^redis_version:[0-6]\./m.test(await (subscriber as Redis).info('server'));
      if (!isOld) throw error;
      return (subscriber as Redis).subscribe(channel);
    });
  }

  function subscribe(channel: string): Promise<void> {
    const known = subscribed.get(channel);
    if (known !== undefined) return known;
    const ready = callRedis(ask(channel)).then(() => undefined);
    subscribed.set(channel, ready);
    ready.catch(() => {
      if (subscribed.get(channel) === ready) subscribed.delete(channel);
    });
    return ready;
  }

  function leaveSoon(channel: string): void {
    clearTimeout(lingering.get(channel));
    const leave = (): void => {
      lingering.delete(channel);
      if ((members.get(channel)?.size ?? 0) > 0) return;
      members.delete(channel);
      subscribed.delete(channel);
      // A failed unsubscribe costs only a few unused messages.
      subscriber.sunsubscribe(channel).catch(() => undefined);
      if (isOld) (subscriber as Redis).unsubscribe(channel).catch(() => undefined);
    };
    lingering.set(channel, setTimeout(leave, LINGER_MS).unref());
  }

  /** Adds a member. It may receive messages at once, and receives all once `ready` has resolved. */
  function enter(channel: string, member: M) {
    const present = members.get(channel) ?? new Set<M>();
    members.set(channel, present.add(member));
    return {
      /** Resolves once the channel is subscribed; after a failure, calling it again retries. */
      ready: () => subscribe(channel),
      leave: () => {
        if (present.delete(member) && present.size === 0) leaveSoon(channel);
      },
    };
  }

  return {
    enter,
    /** Enters the channel; resolves once messages published from now on will arrive. */
    join: async (channel: string, member: M): Promise<() => void> => {
      const { ready, leave } = enter(channel, member);
      try {
        await ready();
      } catch (error) {
        leave();
        throw error;
      }
      return leave;
    },
    /** Channels that are subscribed or being subscribed. */
    names: () => [...subscribed.keys()],
    all: function* (): Iterable<M> {
      for (const present of members.values()) yield* present;
    },
  };
}

/**
 * Watches a subscription connection. `onMissed` is called when messages may have been missed: when
 * a connection breaks, and when its subscriptions are renewed.
 *
 * @returns a function that returns false while messages may come from a different server than before; they must be
 * dropped until the next miss
 */
export function watchSubscriptions(
  subscriber: Subscriber,
  channels: () => string[],
  onMissed: () => void,
): () => boolean {
  return 'nodes' in subscriber
    ? watchCluster(subscriber, channels, onMissed)
    : watchOne(subscriber, onMissed);
}

function watchOne(subscriber: Redis | LocalSubscriber, onMissed: () => void): () => boolean {
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
  return () => isContinuous;
}

/**
 * A cluster has one connection per node. The others continue while one is renewed. Followers of
 * sessions on the broken node read the log first, from its new owner.
 */
function watchCluster(
  subscriber: Cluster,
  channels: () => string[],
  onMissed: () => void,
): () => boolean {
  subscriber.on('-node', onMissed);
  subscriber.on('-subscriber', onMissed);
  subscriber.on('close', onMissed);
  // ioredis does not wait for the replies to its own renewed subscriptions.
  subscriber.on('subscribersReady', () => {
    const renewed = channels().map((channel) => subscriber.ssubscribe(channel));
    void Promise.allSettled(renewed).then(onMissed);
  });
  return () => true;
}
