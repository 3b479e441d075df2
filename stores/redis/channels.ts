import type { Redis } from 'ioredis';

/** A channel stays subscribed this long after its last member left: the next step often follows at once. */
const LINGER_MS = 2_000;

/** Members of sharded Pub/Sub channels on one connection: subscribes with the first, leaves after the last. */
export interface Channels<M> {
  /** Resolves once messages published from now on will arrive. */
  join: (channel: string, member: M) => Promise<() => void>;
  all: () => Iterable<M>;
}

export function createChannels<M>(
  subscriber: Redis,
  deliver: (members: Iterable<M>, message: string) => void,
): Channels<M> {
  const members = new Map<string, Set<M>>();
  const subscribed = new Map<string, Promise<unknown>>();

  subscriber.on('smessage', (channel: string, message: string) => {
    const present = members.get(channel);
    if (present !== undefined && present.size > 0) deliver(present, message);
  });

  function leaveSoon(channel: string): void {
    setTimeout(() => {
      if ((members.get(channel)?.size ?? 0) > 0) return;
      members.delete(channel);
      subscribed.delete(channel);
      // A failed unsubscribe costs a few messages that nobody hears.
      subscriber.sunsubscribe(channel).catch(() => undefined);
    }, LINGER_MS).unref();
  }

  return {
    join: async (channel, member) => {
      const present = members.get(channel) ?? new Set<M>();
      members.set(channel, present.add(member));
      let ready = subscribed.get(channel);
      if (ready === undefined) {
        ready = subscriber.ssubscribe(channel);
        subscribed.set(channel, ready);
      }
      try {
        await ready;
      } catch (error) {
        subscribed.delete(channel);
        present.delete(member);
        throw error;
      }
      return () => {
        if (present.delete(member) && present.size === 0) leaveSoon(channel);
      };
    },
    all: function* () {
      for (const present of members.values()) yield* present;
    },
  };
}
