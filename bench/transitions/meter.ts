import type { Redis } from 'ioredis';

/** Scripts and functions, read-only ones too: whatever a store runs its transitions by. */
const SCRIPT = /^cmdstat_(?:eval|evalsha|fcall)(?:_ro)?:calls=(\d+),usec=(\d+)/gm;

/** What ran in Redis since the meter was set. */
export interface Reading {
  /** Time in all scripts. */
  us: number;
  scripts: number;
  /** The longest command: all other clients waited that long. */
  longestUs: number;
}

export interface Meter {
  reset: () => Promise<void>;
  read: () => Promise<Reading>;
}

/** Reads the server's own account of time, to which the way there and back adds nothing. */
export function createMeter(redis: Redis): Meter {
  return {
    reset: async () => {
      await redis.pipeline().slowlog('RESET').config('RESETSTAT').exec();
    },
    read: async () => {
      const info = await redis.info('commandstats');
      const found = [...info.matchAll(SCRIPT)];
      const scripts = sum(found.map(([, calls]) => Number(calls)));
      const us = sum(found.map(([, , time]) => Number(time)));
      const listed = (await redis.slowlog('GET', -1)) as [unknown, unknown, number][];
      // Without an entry each of them was too short to be listed.
      const longestUs = Math.max(scripts === 0 ? 0 : us / scripts, ...listed.map(([, , t]) => t));
      return { us, scripts, longestUs };
    },
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
