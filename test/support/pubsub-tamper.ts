import { EventEmitter } from 'node:events';
import type { Redis } from 'ioredis';

/** What happens to a published message on its way to the subscriber. */
export type Fate = 'deliver' | 'drop' | 'delay' | 'double' | 'cut' | 'foreign';

const GARBAGE = [
  '',
  'hello',
  '[]',
  '[1,[[2,"m1",null]]]',
  '[0,[["1","m1",{}]]]',
  '{"a":1}',
  '[3,[]]',
];

/**
 * Stands between a connection for subscriptions and who listens to it. Fates are taken in turn, one
 * for each message; after the last, messages pass. Delayed ones come after the next, so reordered.
 */
export function tamperWith(subscriber: Redis, fates: readonly Fate[]): Redis {
  const heard = new EventEmitter();
  let next = 0;
  let delayed: [string, string][] = [];
  subscriber.on('smessage', (channel: string, text: string) => {
    const pass = (message: string): boolean => heard.emit('smessage', channel, message);
    const fate = fates[next] ?? 'deliver';
    next += 1;
    if (fate === 'delay') {
      delayed.push([channel, text]);
      return;
    }
    if (fate === 'foreign') pass(GARBAGE[next % GARBAGE.length] ?? '');
    if (fate === 'cut') pass(text.slice(0, text.length / 2));
    else if (fate !== 'drop') pass(text);
    if (fate === 'double') pass(text);
    const late = delayed.reverse();
    delayed = [];
    for (const [where, message] of late) heard.emit('smessage', where, message);
  });
  return new Proxy(subscriber, {
    get: (target, name) => {
      if (name === 'on') {
        return (event: string, listener: (...args: unknown[]) => void) =>
          event === 'smessage' ? heard.on(event, listener) : target.on(event as 'ready', listener);
      }
      const value = Reflect.get(target, name) as unknown;
      return typeof value === 'function' ? (value as () => unknown).bind(target) : value;
    },
  });
}
