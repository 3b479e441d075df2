import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { Redis } from 'ioredis';
import type { Times } from '../../protocol/limits.js';
import { startProcess, type ProductProcess } from './process.js';
import { SECRET } from './people.js';
import { startRedis, type RedisServer } from './redis-server.js';
import { lateBound } from './test-stores.js';
import { until } from './until.js';

type Settings = Record<string, string>;

export interface ProductOptions {
  /** Default: the Temporal that all test files share. */
  temporalAddress?: string;
  env?: Settings;
  /** False: the test starts its own worker. */
  worker?: false;
}

/** An API with its own settings on the Redis and the worker that test files share. */
export interface ApiOptions {
  api: Settings;
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
  startApi: (env?: Settings) => Promise<void>;
  startWorker: (env?: Settings) => Promise<void>;
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

/** The API then measures on request how long its event loop is blocked; see `large-bodies.test.ts`. */
const MEASURED = {
  NODE_OPTIONS: `--import ${fileURLToPath(new URL('loop-meter.mjs', import.meta.url))}`,
};

/** Settings of the shared worker and of every API beside it; files wait for its sweeper. */
const SHARED_BACKEND = {
  AUDIT_KEY: 'k'.repeat(32),
  HELIX_TIMES: JSON.stringify({ lookAgainMs: 1_500, forkMs: 3_000 } satisfies Partial<Times>),
};

const SHARED = {
  /** All callers are one anonymous user. */
  open: { ...UNLIMITED, ...MEASURED },
  /** Callers have tokens; see `people.ts`. */
  accounts: {
    ...UNLIMITED,
    JWT_SECRET: SECRET,
    JWT_ROLES_CLAIM: 'realm_access.roles',
    JWT_TENANTS_CLAIM: 'helps',
    LAB: '1',
  },
};
type SharedKind = keyof typeof SHARED;

let sharedBackend: Promise<Backend> | undefined;
const shared = new Map<SharedKind, Promise<Product>>();

function shareBackend(): Promise<Backend> {
  sharedBackend ??= createBackend({ env: SHARED_BACKEND }).then((backend) => {
    atEndOfRun(backend.stop);
    return backend;
  });
  return sharedBackend;
}

function shareProduct(kind: SharedKind): Promise<Product> {
  const started =
    shared.get(kind) ??
    startApiOfShared(SHARED[kind]).then((product) => {
      atEndOfRun(product.stop);
      return product;
    });
  shared.set(kind, started);
  return started;
}

async function startApiOfShared(settings: Settings): Promise<Product> {
  const backend = await shareBackend();
  const product = createProduct(backend, settings);
  await start(product, backend.worker.restore);
  return product;
}

/**
 * Keeps a product up for all tests of a file. With options the file gets its own, or an API of its
 * own. Otherwise all files of this process share one without rate limits and quotas. Files keep
 * apart by their conversations; a process runs its files one after another, so a file may kill the
 * shared processes.
 */
export function useProduct(options?: SharedKind | ApiOptions): SharedProduct;
export function useProduct(options: ProductOptions): Product;
export function useProduct(options: SharedKind | ApiOptions | ProductOptions = 'open'): Product {
  let started: Product | undefined;
  beforeAll(async () => {
    if (typeof options === 'string') {
      started = await shareProduct(options);
      await until('the shared product is ready', started.isReady);
    } else if ('api' in options) started = await startApiOfShared(options.api);
    else started = await startProduct(options);
  });
  afterAll(async () => {
    if (typeof options === 'string') return started?.restore();
    await started?.stop();
    if ('api' in options) await (await shareBackend()).worker.restore();
  });
  return lateBound(() => started);
}

export async function startProduct(options: ProductOptions = {}): Promise<Product> {
  const backend = await createBackend(options);
  const product = createProduct(backend);
  await start(product, options.worker === false ? undefined : backend.worker.restore);
  return product;
}

/** Starts a product's API, and a worker with it: the product is ready only once a worker has run. */
async function start(product: Product, startWorker?: () => Promise<unknown>): Promise<void> {
  try {
    await Promise.all([product.startApi(), startWorker?.()]);
    if (startWorker !== undefined) await until('the product is ready', product.isReady);
  } catch (error) {
    await product.stop().catch(() => undefined);
    throw error;
  }
}

/** Controls a process that tests end and start again. */
function createRole(launch: (extra: Settings) => ProductProcess, whenUp: string) {
  let launched: ProductProcess | undefined;
  let isAsUsual = false;

  async function start(extra: Settings = {}): Promise<Record<string, unknown>> {
    isAsUsual = Object.keys(extra).length === 0;
    launched = launch(extra);
    return launched.says(whenUp);
  }

  async function end(how: 'stop' | 'kill9'): Promise<void> {
    isAsUsual = false;
    await launched?.[how]();
  }

  return {
    start,
    end,
    /** Starts the process if it is down or has other settings than at first. */
    restore: async () => {
      if (!isAsUsual) await end('kill9').then(() => start());
    },
    pid: () => launched?.pid ?? 0,
    says: async (message: string) => launched?.says(message),
    log: () => launched?.log() ?? '',
  };
}

/** What several APIs can share: the settings of all processes, Redis and a worker. */
interface Backend extends Pick<Product, 'taskQueue' | 'redisServer' | 'redis' | 'stop'> {
  env: Settings;
  worker: ReturnType<typeof createRole>;
}

async function createBackend({ temporalAddress, env: own }: ProductOptions = {}): Promise<Backend> {
  const taskQueue = `e2e-${randomBytes(6).toString('hex')}`;
  // Sweepers look after every session in their Redis, so each worker has its own.
  const redisServer = await startRedis();
  const redis = new Redis(redisServer.url);
  redis.on('error', () => undefined);
  const env = {
    HOST: '127.0.0.1',
    REDIS_URL: redisServer.url,
    TEMPORAL_ADDRESS: temporalAddress ?? sharedTemporal(),
    TASK_QUEUE: taskQueue,
    HELIX_ALLOW_UNAUTHENTICATED: '1',
    DEFAULT_AGENT: 'support',
    ...own,
  };
  let leases = 0;
  const worker = createRole((extra) => {
    // A supervisor names the ended lease; without the name, the lease has to expire first.
    const ended = leases > 0 && { ENDED_LEASE_ID: `worker-${String(leases)}` };
    leases += 1;
    return startProcess('worker', {
      ...env,
      LEASE_ID: `worker-${String(leases)}`,
      ...ended,
      ...extra,
    });
  }, 'worker runs');
  return {
    env,
    taskQueue,
    redisServer,
    redis,
    worker,
    stop: async () => {
      try {
        // A run that is still working would keep a worker alive for half a minute.
        await worker.end('kill9');
      } finally {
        redis.disconnect();
        await redisServer.close();
      }
    },
  };
}

/**
 * Adds an API to a backend.
 *
 * @param settings of one of several APIs; an API without any ends the backend with itself
 */
function createProduct(backend: Backend, settings?: Settings): Product {
  const { worker, taskQueue, redisServer, redis } = backend;
  let port = '0';
  const api = createRole(
    (extra) => startProcess('api', { ...backend.env, ...settings, ...extra, PORT: port }),
    'api listens',
  );
  const product: Product = {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    taskQueue,
    get apiPid() {
      return api.pid();
    },
    redisServer,
    redis,
    apiSays: api.says,
    workerSays: worker.says,
    log: () => api.log() + worker.log(),
    startApi: async (extra) => {
      port = String((await api.start(extra))['port']);
    },
    startWorker: async (extra) => {
      await worker.start(extra);
    },
    stopApi: () => api.end('stop'),
    stopWorker: () => worker.end('stop'),
    kill9Api: () => api.end('kill9'),
    kill9Worker: () => worker.end('kill9'),
    isReady: async () => {
      const response = await fetch(`${product.url}/readyz`).catch(() => undefined);
      await response?.arrayBuffer();
      return response?.status === 200;
    },
    restore: async () => {
      await Promise.all([api.restore(), worker.restore()]);
      await until('the product is ready', product.isReady);
    },
    stop: async () => {
      try {
        await api.end('kill9');
      } finally {
        if (settings === undefined) await backend.stop();
      }
    },
  };
  return product;
}

export function sharedTemporal(): string {
  const address = process.env['TEST_TEMPORAL_ADDRESS'];
  if (address === undefined) {
    throw new Error('TEST_TEMPORAL_ADDRESS is not set: run the tests with npm test');
  }
  return address;
}

/** Returns a client of the shared Temporal; it closes after the file's tests. */
export function openTemporal(): Client {
  const connection = Connection.lazy({ address: sharedTemporal() });
  atEndOfFile(() => connection.close());
  return new Client({ connection });
}
