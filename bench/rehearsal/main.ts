import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { Cluster } from 'ioredis';
import { sleep } from '../clock.js';
import { createSay, type Say } from '../command.js';
import { createRequests } from '../soak/page.js';
import { play } from '../soak/play.js';
import type { Kind } from '../soak/verdict.js';
import { listFaults } from './faults.js';
import { startFleet, type Fleet } from './fleet.js';
import { lookAtStuck } from './look-at-stuck.js';
import { onOneQueue, withWorkerVersions, type Rollout } from './rollout.js';
import { createWires, type Engines, type StartEngines, type Wires } from './wires.js';

const TASK_QUEUE = 'rehearsal';
/** Longest pause of a person, which keeps a sixth of the people waiting for a reply at any time. */
const THINKS_MS = 40_000;

/**
 * Plays conversations of every kind on a company's engines, while each kind of process is killed, frozen and
 * cut off, and a deploy rolls at half time. The closing line is the verdict.
 *
 * @returns true if nothing was found
 */
export async function rehearse(startEngines: StartEngines, options: Options): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'helix-rehearsal-'));
  const say = createSay((line) => {
    appendFileSync(join(folder, 'rehearsal.log'), line);
  });
  const rollout = options.beside === undefined ? withWorkerVersions() : onOneQueue(options.beside);
  const wires = createWires();
  let engines: Engines | undefined;
  let connection: Connection | undefined;
  let fleet: Fleet | undefined;
  let isClean = false;
  try {
    say('starting PostgreSQL, a Temporal server of four roles, and a Redis Cluster of six nodes');
    engines = await startEngines(wires);
    const temporalAddress = engines.temporal.address;
    connection = await Connection.connect({ address: temporalAddress });
    const client = new Client({ connection });
    say('starting three workers of two versions, two APIs and a proxy');
    fleet = await startFleet({
      redisUrl: engines.redis.url,
      temporalAddress,
      taskQueue: TASK_QUEUE,
      versions: rollout.versions,
      client,
      whenStarted: () => rollout.begin(client),
      wires,
      folder,
      say,
    });
    isClean = await playOn({ engines, fleet, wires, rollout, client, say, folder }, options);
    return isClean;
  } finally {
    await fleet?.stop();
    await connection?.close();
    await engines?.close();
    wires.close();
    if (isClean || options.plant.length > 0) rmSync(folder, { recursive: true });
    else
      process.stderr.write(
        `The logs of the processes, and a report of each stuck conversation, are in ${folder}\n`,
      );
  }
}

/** The engines and processes of a rehearsal. */
interface Company {
  engines: Engines;
  fleet: Fleet;
  wires: Wires;
  rollout: Rollout;
  client: Client;
  say: Say;
  /** Folder of the reports. */
  folder: string;
}

async function playOn(
  { engines, fleet, wires, rollout, client, say, folder }: Company,
  { minutes, sessions, waiting, plant: planted, calm }: Options,
): Promise<boolean> {
  const redis = new Cluster(
    engines.redis.url.slice('redis-cluster://'.length).split(',').map(toNode),
  );
  // Nodes of the cluster come and go.
  redis.on('error', () => undefined);
  const requests = createRequests(() => fleet.url);
  const deploy = async (): Promise<number> => {
    await sleep(minutes * 30_000);
    say('deploy');
    const left = await rollout.deploy(client, fleet, say);
    say('the deploy is rolled');
    return left;
  };
  try {
    return await play({
      pickUrl: () => fleet.url,
      redis,
      temporal: client,
      taskQueue: TASK_QUEUE,
      minutes,
      people: sessions,
      pauses: { betweenTurns: Math.min(THINKS_MS, minutes * 6_000), betweenConversations: 200 },
      faults: calm ? {} : listFaults(engines, fleet, wires),
      faultPauses: { least: 3_000, most: 8_000 },
      planted,
      waiting,
      deploy,
      examine: async (sessionId, why) => {
        const file = await lookAtStuck({ requests, redis, client, folder }, sessionId, why);
        say(`what it was doing is in ${file}`);
      },
      say,
    });
  } finally {
    redis.disconnect();
  }
}

function toNode(text: string): { host: string; port: number } {
  const [host = '', port] = text.split(':');
  return { host, port: Number(port) };
}

export interface Options {
  minutes: number;
  /** Number of concurrent conversations. */
  sessions: number;
  /** Number of runs that wait for people through the deploy. */
  waiting: number;
  plant: readonly Kind[];
  /** True causes no faults, for comparison. */
  calm: boolean;
  /** Folder (`dist`) of another build that the first worker runs until the deploy. */
  beside?: string | undefined;
}
