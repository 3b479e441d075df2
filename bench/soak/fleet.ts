import { randomInt } from 'node:crypto';
import { startChild, type Child } from '../processes/child.js';
import { freePort, untilReady, type Servers } from '../processes/product.js';
import { startWire, type Wire } from './wire.js';

/** The processes of a soak: of each role one that stays, so that its memory can be watched, and one that dies. */
export interface Fleet {
  /** Where the next request goes. */
  pickUrl: () => string;
  /** Process ids of those that stay. */
  steady: Readonly<Record<string, number>>;
  wires: { redis: Wire; temporal: Wire };
  /** Ends the mortal one by that signal, and starts its successor. */
  replace: (role: 'api' | 'worker', signal: 'SIGKILL' | 'SIGTERM') => Promise<void>;
  /** Freezes the mortal worker for this long, in ms. */
  freezeWorker: (ms: number) => Promise<void>;
  stop: () => Promise<void>;
}

export async function startFleet(
  { redisUrl, temporalAddress }: Servers,
  taskQueue: string,
): Promise<Fleet> {
  const wires = {
    redis: await startWire(Number(new URL(redisUrl).port)),
    temporal: await startWire(Number(temporalAddress.split(':')[1])),
  };
  const env = {
    REDIS_URL: `redis://127.0.0.1:${String(wires.redis.port)}`,
    TEMPORAL_ADDRESS: `127.0.0.1:${String(wires.temporal.port)}`,
    TASK_QUEUE: taskQueue,
    HELIX_ALLOW_UNAUTHENTICATED: '1',
    LOG_LEVEL: 'fatal',
    // All conversations are one person's here.
    MAX_REQUESTS_PER_MINUTE: '1000000',
    MAX_OPEN_STREAMS: '1000',
  };
  const ports = [await freePort(), await freePort()];
  const urls = ports.map((port) => `http://127.0.0.1:${String(port)}`);
  const startWorker = (): Child =>
    startChild('worker/main.js', { env, nodeArgs: ['--max-semi-space-size=64'] });
  const startApi = (at: number): Child =>
    startChild('api/main.js', { env: { ...env, PORT: String(ports[at]) } });
  const steady = { worker: startWorker(), api: startApi(0) };
  const mortal = { worker: startWorker(), api: startApi(1) };
  for (const url of urls) await untilReady(`${url}/readyz`);

  return {
    pickUrl: () => urls[randomInt(urls.length)] ?? '',
    steady: { worker: steady.worker.pid, api: steady.api.pid },
    wires,
    replace: async (role, signal) => {
      const old = mortal[role];
      if (signal === 'SIGKILL') process.kill(old.pid, signal);
      await old.stop();
      mortal[role] = role === 'api' ? startApi(1) : startWorker();
    },
    freezeWorker: async (ms) => {
      const { pid } = mortal.worker;
      process.kill(pid, 'SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, ms));
      process.kill(pid, 'SIGCONT');
    },
    stop: async () => {
      const all = [...Object.values(steady), ...Object.values(mortal)];
      await Promise.all(all.map((child) => child.stop()));
      for (const wire of Object.values(wires)) wire.close();
    },
  };
}
