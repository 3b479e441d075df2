import { Redis } from 'ioredis';
import { openDriver, type Driver } from './driver.js';
import { createFreezer, type Freezer } from './freeze.js';
import { RECORD_LAYOUT } from '../../stores/transitions/lib/layout.js';
import type { Place } from './layout.js';
import { createMeter, type Meter, type Reading } from './meter.js';

/** Databases that states are kept in; sessions live in 0. */
const BASES = 1;
const STATES = 2;

const SESSION_TTL_SECONDS = 3_600;

/** One build on the common server: its sessions are its own by their prefix. */
export interface Side {
  driver: Driver;
  /** The same build, with sessions that expire. */
  expiring: Driver;
  place: Place;
  /** Keeps what a group of states starts from. */
  bases: Freezer;
  /** Keeps what a case starts from. */
  states: Freezer;
  meter: Meter;
  close: () => Promise<void>;
}

export async function openSide(dist: string, url: string, prefix: string): Promise<Side> {
  const [driver, expiring] = await Promise.all([
    openDriver(dist, { url, prefix, recordLayout: RECORD_LAYOUT }),
    openDriver(dist, {
      ...{ url, prefix, recordLayout: RECORD_LAYOUT },
      sessionTtlSeconds: SESSION_TTL_SECONDS,
    }),
  ]);
  await Promise.all([driver.ping(), expiring.ping()]);
  const redis = new Redis(url);
  const [bases, states] = [createFreezer(url, BASES), createFreezer(url, STATES)];
  return {
    ...{ driver, expiring, bases, states },
    place: { redis, prefix },
    meter: createMeter(redis),
    close: async () => {
      for (const { close } of [bases, states]) close();
      redis.disconnect();
      await Promise.all([driver.close(), expiring.close()]);
    },
  };
}

/** Some builds leave background work behind. */
const BEHIND_MS = 3;

/** What one transition costs from the state that was put there. */
export async function measureOnce({ meter }: Side, act: () => Promise<unknown>): Promise<Reading> {
  await meter.reset();
  await act();
  await new Promise((resolve) => setTimeout(resolve, BEHIND_MS));
  return meter.read();
}

/** All sides in turn; the one that was last begins the next round, so that none is always warm. */
export async function eachSide(
  sides: readonly Side[],
  round: number,
  work: (side: Side, at: number) => Promise<void>,
): Promise<void> {
  const order = sides.map((side, at) => ({ side, at }));
  if (round % 2 === 1) order.reverse();
  for (const { side, at } of order) await work(side, at);
}
