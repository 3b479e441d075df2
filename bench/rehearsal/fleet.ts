import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { sleep } from '../clock.js';
import { startChild, type Child } from '../processes/child.js';
import {
  freePort,
  toEnvironment,
  untilPolls,
  untilReady,
  type Servers,
} from '../processes/product.js';
import type { Wires } from './wires.js';

/** A process of the product, together with its successors. */
export interface Member {
  readonly name: string;
  pid: () => number;
  /** Ends the process with that signal and starts its successor; resolves when that is ready. */
  replace: (signal: 'SIGKILL' | 'SIGTERM') => Promise<void>;
  stop: () => Promise<void>;
}

interface MemberOptions {
  overlaps: boolean;
  untilReady: (pid: number) => Promise<void>;
  say: (text: string) => void;
}

const AGAIN_MS = 1_000;

/**
 * Creates a member that is restarted after an unrequested end, as by any supervisor.
 *
 * @param overlaps true if an orderly end waits for the successor; processes on one port cannot overlap
 * @param untilReady rejects if it takes too long, such as while an engine is away
 */
function createMember(
  name: string,
  start: () => Child,
  { overlaps, untilReady, say }: MemberOptions,
): Member {
  let isStopped = false;
  let child = begin();

  function begin(): Child {
    const started = start();
    void started.exited.then(async () => {
      const isWanted = (): boolean => !isStopped && started === child;
      if (!isWanted()) return;
      say(`${name} ended unasked`);
      await sleep(AGAIN_MS);
      if (isWanted()) child = begin();
    });
    return started;
  }

  return {
    name,
    pid: () => child.pid,
    replace: async (signal) => {
      const old = child;
      // The copy detaches the old process, so that its end is not taken for a crash.
      child = { ...old };
      if (signal === 'SIGKILL') old.kill9();
      if (!overlaps) await old.stop();
      child = begin();
      await untilReady(child.pid).catch(() => {
        say(`${name} is not ready yet`);
      });
      await old.stop();
    },
    stop: async () => {
      isStopped = true;
      await child.stop();
    },
  };
}

/** Build and environment of a version's workers. */
export interface Version {
  /** Folder of the build; default: this one. */
  build?: string;
  env: Readonly<Record<string, string>>;
}

/** Three workers of two versions, two APIs, and the proxy in front of them. */
export interface Fleet {
  url: string;
  workers: readonly Member[];
  apis: readonly Member[];
  proxy: Member;
  /** Makes the successors of all workers run today's version. */
  upgrade: () => void;
  stop: () => Promise<void>;
}

export interface FleetOptions extends Servers {
  taskQueue: string;
  wires: Wires;
  /** Versions of the three workers until the upgrade to the last one's. */
  versions: readonly [Version, Version, Version];
  client: Client;
  /** Called once all processes are started, before they are ready. */
  whenStarted: () => Promise<unknown>;
  /** Folder of the logs. */
  folder: string;
  say: (text: string) => void;
}

/** A worker hands over running replies within this time. */
const WORKER_GRACE_MS = 60_000;

export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { wires, folder, say } = options;
  const env = {
    ...toEnvironment(options, options.taskQueue),
    LOG_LEVEL: 'warn',
    // All conversations belong to one person here.
    MAX_REQUESTS_PER_MINUTE: '1000000',
    MAX_OPEN_STREAMS: '10000',
    QUOTA_RUNS: '10000',
    QUOTA_SESSIONS: '1000000',
  };
  const log = (name: string): string => join(folder, `${name}.log`);

  const workerName = (n: number): string => `worker ${String(n)}`;
  const ownAddresses = await Promise.all(
    [0, 1, 2].map((n) => wires.own(workerName(n), options.temporalAddress)),
  );
  const today = options.versions[2];
  let versions: readonly Version[] = options.versions;
  const workers = [0, 1, 2].map((n) => {
    const version = (): Version => versions[n] ?? today;
    const start = (): Child =>
      startChild('worker/main.js', {
        env: { ...env, TEMPORAL_ADDRESS: ownAddresses[n] ?? '', ...version().env },
        logFile: log(`worker-${String(n)}`),
        graceMs: WORKER_GRACE_MS,
        build: version().build,
      });
    const untilReady = (pid: number): Promise<void> =>
      untilPolls(options.client, options.taskQueue, pid);
    return createMember(workerName(n), start, { overlaps: true, untilReady, say });
  });

  const readyAt = (port: number) => () => untilReady(port);
  const ports = [await freePort(), await freePort()];
  const apis = ports.map((port, n) => {
    const name = `API ${String(n)}`;
    const start = (): Child =>
      startChild('api/main.js', {
        env: { ...env, PORT: String(port) },
        logFile: log(`api-${String(n)}`),
      });
    return createMember(name, start, { overlaps: false, untilReady: readyAt(port), say });
  });
  for (const [n, { name }] of apis.entries()) await wires.reach(name, [ports[n] ?? 0]);

  const port = await freePort();
  const args = [port, ...ports.map((each) => `${wires.announced}:${String(each)}`)].map(String);
  const startProxy = (): Child =>
    startChild('bench/rehearsal/proxy.js', { args, logFile: log('proxy') });
  const proxy = createMember('proxy', startProxy, {
    overlaps: false,
    untilReady: readyAt(port),
    say,
  });

  const all = [...workers, ...apis, proxy];
  const stop = async (): Promise<void> => {
    await Promise.all(all.map((member) => member.stop()));
  };
  try {
    await options.whenStarted();
    for (const each of [...ports, port]) await readyAt(each)();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: `http://127.0.0.1:${String(port)}`,
    workers,
    apis,
    proxy,
    stop,
    upgrade: () => {
      versions = [today, today, today];
    },
  };
}
