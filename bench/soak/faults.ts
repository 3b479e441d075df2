import { randomInt } from 'node:crypto';
import type { Redis } from 'ioredis';
import { sleep } from '../clock.js';
import type { Fleet } from './fleet.js';

export type Fault = (fleet: Fleet, redis: Redis) => Promise<unknown>;

/** How long Redis refuses, ms. */
const REFUSES_MS = 1_500;

/** Everything that goes wrong in a soak, by name. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  'worker killed': (fleet) => fleet.replace('worker', 'SIGKILL'),
  'worker drained': (fleet) => fleet.replace('worker', 'SIGTERM'),
  'worker stands still': (fleet) => fleet.freezeWorker(3_000),
  'API killed': (fleet) => fleet.replace('api', 'SIGKILL'),
  'API drained': (fleet) => fleet.replace('api', 'SIGTERM'),
  'packets to Redis vanish': async ({ wires }) => {
    wires.redis.swallow();
  },
  'connections to Redis break': async ({ wires }) => {
    wires.redis.cut();
  },
  'connections to Temporal break': async ({ wires }) => {
    wires.temporal.cut();
  },
  'Redis is busy': async (_, redis) => {
    await redis.config('SET', 'busy-reply-threshold', '50');
    const other = redis.duplicate();
    const endless = other.eval('while true do end', 0).catch(() => undefined);
    await sleep(REFUSES_MS);
    await redis.script('KILL');
    await endless;
    other.disconnect();
  },
  'Redis is full': (_, redis) => setting(redis, 'maxmemory', '1', '0'),
  'Redis lacks replicas': (_, redis) => setting(redis, 'min-replicas-to-write', '1', '0'),
  'Redis stands still': (_, redis) => redis.client('PAUSE', REFUSES_MS, 'ALL'),
};

async function setting(redis: Redis, name: string, bad: string, good: string): Promise<void> {
  await redis.config('SET', name, bad);
  await sleep(REFUSES_MS);
  await redis.config('SET', name, good);
}

const LEAST_PAUSE_MS = 4_000;
const MOST_PAUSE_MS = 10_000;

/** Does one after the other, at random, until the signal fires; resolves when the last one is over. */
export async function injectFaults(
  fleet: Fleet,
  redis: Redis,
  signal: AbortSignal,
  onFault: (name: string) => void,
): Promise<void> {
  const names = Object.keys(FAULTS);
  for (;;) {
    await sleep(LEAST_PAUSE_MS + randomInt(MOST_PAUSE_MS - LEAST_PAUSE_MS));
    if (signal.aborted) return;
    const name = names[randomInt(names.length)] ?? '';
    onFault(name);
    await FAULTS[name]?.(fleet, redis);
  }
}
