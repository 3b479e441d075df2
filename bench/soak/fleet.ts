import type { Redis } from 'ioredis';
import { sleep } from '../clock.js';
import type { Say } from '../command.js';
import { startChild, type Child } from '../processes/child.js';
import { createMember, faultsOf, oneOf, type Faults } from '../processes/member.js';
import {
  freePort,
  startWorker,
  toEnvironment,
  untilReady,
  type Servers,
} from '../processes/product.js';
import { startWire } from './wire.js';

type Fleet = Awaited<ReturnType<typeof startFleet>>;

/** Starts the processes of a soak: per role a steady one, whose memory is watched, and a mortal one. */
export async function startFleet(
  { redisUrl, temporalAddress }: Servers,
  taskQueue: string,
  say: Say,
) {
  const wires = {
    redis: await startWire(Number(new URL(redisUrl).port)),
    temporal: await startWire(Number(temporalAddress.split(':')[1])),
  };
  const wired = {
    redisUrl: `redis://127.0.0.1:${String(wires.redis.port)}`,
    temporalAddress: `127.0.0.1:${String(wires.temporal.port)}`,
  };
  const settings = {
    LOG_LEVEL: 'fatal',
    // All conversations belong to one person here.
    MAX_REQUESTS_PER_MINUTE: '1000000',
    MAX_OPEN_STREAMS: '1000',
  };
  const ports = [await freePort(), await freePort()];
  const urls = ports.map((port) => `http://127.0.0.1:${String(port)}`);
  const workerOf = (): Child => startWorker(wired, taskQueue, settings);
  const env = { ...toEnvironment(wired, taskQueue), ...settings };
  const apiAt = (at: number): Child =>
    startChild('api/main.js', { env: { ...env, PORT: String(ports[at]) } });
  const steady = { worker: workerOf(), api: apiAt(0) };
  const mortal = {
    worker: createMember('worker', workerOf, { say }),
    api: createMember('API', () => apiAt(1), { say }),
  };
  for (const port of ports) await untilReady(port);

  return {
    /** Returns the server for the next request. */
    pickUrl: () => oneOf(urls),
    /** Process ids of the steady ones. */
    steady: { worker: steady.worker.pid, api: steady.api.pid },
    mortal,
    wires,
    stop: async (): Promise<void> => {
      const all = [...Object.values(steady), ...Object.values(mortal)];
      await Promise.all(all.map((each) => each.stop()));
      for (const wire of Object.values(wires)) wire.close();
    },
  };
}

/** Redis refuses commands for this time, ms. */
const REFUSES_MS = 1_500;

/** Lists the faults of a soak. */
export function listFaults({ wires, mortal }: Fleet, redis: Redis): Faults {
  const setting = async (name: string, bad: string, good: string): Promise<void> => {
    await redis.config('SET', name, bad);
    await sleep(REFUSES_MS);
    await redis.config('SET', name, good);
  };
  return {
    ...faultsOf('worker', [mortal.worker]),
    ...faultsOf('API', [mortal.api]),
    'packets to Redis vanish': async () => wires.redis.swallow(),
    'connections to Redis break': async () => wires.redis.cut(),
    'connections to Temporal break': async () => wires.temporal.cut(),
    'Redis is busy': async () => {
      await redis.config('SET', 'busy-reply-threshold', '50');
      const other = redis.duplicate();
      const endless = other.eval('while true do end', 0).catch(() => undefined);
      await sleep(REFUSES_MS);
      await redis.script('KILL');
      await endless;
      other.disconnect();
    },
    'Redis is full': () => setting('maxmemory', '1', '0'),
    'Redis lacks replicas': () => setting('min-replicas-to-write', '1', '0'),
    'Redis stands still': () => redis.client('PAUSE', REFUSES_MS, 'ALL'),
  };
}
