import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { Say } from '../command.js';
import { startChild, type ChildOptions } from '../processes/child.js';
import { createMember, type Member } from '../processes/member.js';
import {
  freePort,
  toEnvironment,
  untilPolls,
  untilReady,
  type Servers,
} from '../processes/product.js';
import type { Wires } from './wires.js';

/** Build and environment of a version's workers. */
export interface Version {
  /** Folder of the build; default: this one. */
  build?: string;
  env: Readonly<Record<string, string>>;
}

export type Fleet = Awaited<ReturnType<typeof startFleet>>;

interface FleetOptions extends Servers {
  taskQueue: string;
  wires: Wires;
  /** Versions of the three workers until the upgrade to the last one's. */
  versions: readonly [Version, Version, Version];
  client: Client;
  /** Called once all processes are started, before they are ready. */
  whenStarted: () => Promise<unknown>;
  /** Folder of the logs. */
  folder: string;
  say: Say;
}

/** A worker hands over running replies within this time. */
const WORKER_GRACE_MS = 60_000;

/** Starts three workers of two versions, two APIs, and the proxy in front of them. */
export async function startFleet(options: FleetOptions) {
  const { wires, client, taskQueue, say } = options;
  const env = {
    ...toEnvironment(options, taskQueue),
    LOG_LEVEL: 'warn',
    // All conversations belong to one person here.
    MAX_REQUESTS_PER_MINUTE: '1000000',
    MAX_OPEN_STREAMS: '10000',
    QUOTA_RUNS: '10000',
    QUOTA_SESSIONS: '1000000',
  };
  const all: Member[] = [];
  const add = (
    name: string,
    file: string,
    toOptions: () => ChildOptions,
    how: { overlaps?: boolean; untilReady: (pid: number) => Promise<void> },
  ): Member => {
    const logFile = join(options.folder, `${name.toLowerCase().replace(' ', '-')}.log`);
    const start = () => startChild(file, { ...toOptions(), logFile });
    const member = createMember(name, start, { ...how, say });
    all.push(member);
    return member;
  };

  const workerNames = ['worker 0', 'worker 1', 'worker 2'];
  const addresses = await Promise.all(
    workerNames.map((name) => wires.own(name, options.temporalAddress)),
  );
  const today = options.versions[2];
  let versions: readonly Version[] = options.versions;
  const workers = workerNames.map((name, n) => {
    const toOptions = (): ChildOptions => {
      const { build, env: own } = versions[n] ?? today;
      const wired = { TEMPORAL_ADDRESS: addresses[n] ?? '' };
      return { env: { ...env, ...wired, ...own }, graceMs: WORKER_GRACE_MS, build };
    };
    const untilAtWork = (pid: number): Promise<void> => untilPolls(client, taskQueue, pid);
    return add(name, 'worker/main.js', toOptions, { overlaps: true, untilReady: untilAtWork });
  });

  const readyAt = (port: number) => () => untilReady(port);
  const ports = [await freePort(), await freePort()];
  const apis = ports.map((port, n) => {
    const toOptions = () => ({ env: { ...env, PORT: String(port) } });
    return add(`API ${String(n)}`, 'api/main.js', toOptions, { untilReady: readyAt(port) });
  });
  for (const [n, { name }] of apis.entries()) await wires.reach(name, [ports[n] ?? 0]);

  const port = await freePort();
  const args = [port, ...ports.map((each) => `${wires.announced}:${String(each)}`)].map(String);
  const proxy = add('proxy', 'bench/rehearsal/proxy.js', () => ({ args }), {
    untilReady: readyAt(port),
  });

  const stop = async (): Promise<void> => {
    await Promise.all(all.map((member) => member.stop()));
  };
  try {
    await options.whenStarted();
    for (const each of [...ports, port]) await untilReady(each);
  } catch (error) {
    await stop();
    throw error;
  }
  const url = `http://127.0.0.1:${String(port)}`;
  /** Makes the successors of all workers run today's version. */
  const upgrade = (): void => {
    versions = [today, today, today];
  };
  return { url, workers, apis, proxy, stop, upgrade };
}
