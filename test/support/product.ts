import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { startProcess, type ProductProcess } from './process.js';
import { SECRET } from './people.js';
import { startRedis, type RedisServer } from './redis-server.js';
import { lateBound } from './test-stores.js';
import { until } from './until.js';

export interface ProductOptions {
  /** Default: the Temporal that all test files share. */
  temporalAddress?: string;
  env?: Record<string, string>;
  /** False: the test starts its own worker. */
  worker?: false;
}

/** The product as people run it: real processes on real engines. */
export interface Product {
  /** Address of the API; a restart keeps it. */
  readonly url: string;
  readonly taskQueue: string;
  readonly apiPid: number;
  /** The product's own Redis, with the append-only file on. */
  readonly redisServer: RedisServer;
  /** For inspecting stored data. */
  readonly redis: Redis;
  apiSays: (message: string) => Promise<Record<string, unknown> | undefined>;
  workerSays: (message: string) => Promise<Record<string, unknown> | undefined>;
  /** Logs of API and worker since their last start. */
  log: () => string;
  /** Starts the API, with other settings than the product's if given. */
  startApi: (env?: Record<string, string>) => Promise<void>;
  startWorker: (env?: Record<string, string>) => Promise<void>;
  /** Stops the API as a deploy does. Throws if it does not end. */
  stopApi: () => Promise<void>;
  stopWorker: () => Promise<void>;
  kill9Api: () => Promise<void>;
  kill9Worker: () => Promise<void>;
  isReady: () => Promise<boolean>;
  /** Starts processes that are down or run with other settings than the product's. */
  restore: () => Promise<void>;
  stop: () => Promise<void>;
}

/** Returns a session id that no other test uses. */
export function newSessionId(): string {
  return `e2e-${randomBytes(6).toString('hex')}`;
}

/** A product that test files share: a file may kill its processes, but must not end it. */
export type SharedProduct = Omit<Product, 'stop' | 'restore'>;

/** Address of Temporal's UI in the shared products' settings. */
export const TEMPORAL_UI = 'http://temporal.test:8233';

/** Many files act as one user there, so limits are lifted. */
const UNLIMITED = {
  MAX_REQUESTS_PER_MINUTE: '0',
  MAX_OPEN_STREAMS: '0',
  MAX_READ_MB_PER_MINUTE: '0',
  QUOTA_RUNS: '10000',
  QUOTA_SESSIONS: '100000',
  TEMPORAL_UI_URL: TEMPORAL_UI,
};

const SHARED = {
  /** All callers are one anonymous user. */
  open: UNLIMITED,
  /** Callers have tokens; see `people.ts`. */
  accounts: {
    ...UNLIMITED,
    JWT_SECRET: SECRET,
    JWT_ROLES_CLAIM: 'realm_access.roles',
    LAB: '1',
  },
};
type SharedKind = keyof typeof SHARED;

const shared = new Map<SharedKind, Promise<Product>>();

function shareProduct(kind: SharedKind): Promise<Product> {
  const started =
    shared.get(kind) ??
    startProduct({ env: SHARED[kind] }).then((product) => {
      atEndOfRun(product.stop);
      return product;
    });
  shared.set(kind, started);
  return started;
}

/**
 * Keeps a product up for all tests of a file. With options the file gets its own. Otherwise all
 * files of this process share one without rate limits and quotas, each with its own conversations;
 * a process runs its files one after another, so a file may kill the product's processes.
 */
export function useProduct(kind?: SharedKind): SharedProduct;
export function useProduct(options: ProductOptions): Product;
export function useProduct(options: SharedKind | ProductOptions = 'open'): Product {
  let started: Product | undefined;
  beforeAll(async () => {
    const isShared = typeof options === 'string';
    started = await (isShared ? shareProduct(options) : startProduct(options));
  });
  afterAll(() => (typeof options === 'string' ? started?.restore() : started?.stop()));
  return lateBound(() => started);
}

export async function startProduct(options: ProductOptions = {}): Promise<Product> {
  const taskQueue = `e2e-${randomBytes(6).toString('hex')}`;
  // Sweepers look after every session in their Redis, so each product has its own.
  const redisServer = await startRedis();
  const redis = new Redis(redisServer.url);
  redis.on('error', () => undefined);
  const env = {
    HOST: '127.0.0.1',
    REDIS_URL: redisServer.url,
    TEMPORAL_ADDRESS: options.temporalAddress ?? sharedTemporal(),
    TASK_QUEUE: taskQueue,
    HELIX_ALLOW_UNAUTHENTICATED: '1',
    DEFAULT_AGENT: 'support',
    ...options.env,
  };
  let port = '0';
  let api: ProductProcess | undefined;
  let worker: ProductProcess | undefined;
  let leases = 0;
  let endedLease: string | undefined;
  const asUsual = { api: false, worker: false };

  async function startApi(extra: Record<string, string> = {}): Promise<void> {
    asUsual.api = Object.keys(extra).length === 0;
    api = startProcess('api', { ...env, ...extra, PORT: port });
    const line = await api.says('api listens');
    port = String(line['port']);
  }

  async function startWorker(extra: Record<string, string> = {}): Promise<void> {
    leases += 1;
    asUsual.worker = Object.keys(extra).length === 0;
    worker = startProcess('worker', {
      ...env,
      LEASE_ID: `worker-${String(leases)}`,
      // A supervisor names the ended lease; without the name, the lease has to expire first.
      ...(endedLease !== undefined && { ENDED_LEASE_ID: endedLease }),
      ...extra,
    });
    await worker.says('worker runs');
  }

  async function endApi(end: 'stop' | 'kill9'): Promise<void> {
    asUsual.api = false;
    await api?.[end]();
  }

  async function endWorker(end: 'stop' | 'kill9'): Promise<void> {
    asUsual.worker = false;
    await worker?.[end]();
    if (worker !== undefined) endedLease = `worker-${String(leases)}`;
  }

  async function isReady(): Promise<boolean> {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    await response?.arrayBuffer();
    return response?.status === 200;
  }

  async function stop(): Promise<void> {
    // A run that is still working would keep a worker alive for half a minute.
    const ends = await Promise.allSettled([api?.kill9(), worker?.kill9()]);
    redis.disconnect();
    await redisServer.close();
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  try {
    await Promise.all([startApi(), options.worker === false ? undefined : startWorker()]);
    // The product is ready only once a worker has run.
    if (options.worker !== false) await until('the product is ready', isReady);
  } catch (error) {
    await stop().catch(() => undefined);
    throw error;
  }
  return {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    taskQueue,
    get apiPid() {
      return api?.pid ?? 0;
    },
    redisServer,
    redis,
    apiSays: async (message) => api?.says(message),
    workerSays: async (message) => worker?.says(message),
    log: () => `${api?.log() ?? ''}${worker?.log() ?? ''}`,
    startApi,
    startWorker,
    stopApi: () => endApi('stop'),
    stopWorker: () => endWorker('stop'),
    kill9Api: () => endApi('kill9'),
    kill9Worker: () => endWorker('kill9'),
    isReady,
    restore: async () => {
      if (!asUsual.api) await endApi('kill9').then(() => startApi());
      if (!asUsual.worker) await endWorker('kill9').then(() => startWorker());
      await until('the product is ready', isReady);
    },
    stop,
  };
}

export function sharedTemporal(): string {
  const address = process.env['TEST_TEMPORAL_ADDRESS'];
  if (address === undefined) {
    throw new Error('TEST_TEMPORAL_ADDRESS is not set: run the tests with npm test');
  }
  return address;
}
