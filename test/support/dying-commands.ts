import type { Commands } from '../../stores/redis/commands.js';

/** The commands of a process that dies after so many of them. */
export function dyingAfter(count: number, redis: Commands): Commands {
  let left = count;
  return new Proxy(redis, {
    get:
      (of, name: keyof Commands) =>
      (...args: never[]) => {
        left -= 1;
        if (left < 0) return Promise.reject(new Error('it has died'));
        return (of[name] as (...all: never[]) => unknown)(...args);
      },
  });
}
