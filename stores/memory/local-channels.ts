import { EventEmitter } from 'node:events';
import type { LocalSubscriber } from '../redis/subscriber.js';

/** Publications within this process. */
export interface LocalChannels {
  publish: (channel: string, message: string) => void;
  subscriber: () => LocalSubscriber;
}

export function createLocalChannels(): LocalChannels {
  // A stream has as many followers as there are viewers.
  const events = new EventEmitter().setMaxListeners(0);
  return {
    publish: (channel, message) => {
      events.emit('smessage', channel, message);
    },
    // A subscriber hears all; what it does not follow it leaves alone.
    subscriber: () => ({
      on: (event, listener) => events.on(event, listener),
      ssubscribe: async () => 1,
      sunsubscribe: async () => 1,
      ping: async () => 'PONG',
      options: {},
      status: 'ready',
    }),
  };
}
