import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { Cluster } from 'ioredis';
import { sleep } from '../clock.js';
import { createSay } from '../command.js';
import { createRequests } from '../soak/page.js';
import { play } from '../soak/play.js';
import type { Kind } from '../soak/verdict.js';
import { listFaults } from './faults.js';
import { startFleet } from './fleet.js';
import { lookAtStuck } from './look-at-stuck.js';
import { onOneQueue, withWorkerVersions } from './rollout.js';
import { createWires, type StartEngines } from './wires.js';

const TASK_QUEUE = 'rehearsal';
/** Longest pause of a person, which keeps a sixth of the people waiting for a reply at any time. */
const THINKS_MS = 40_000;

interface Options {
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

/**
 * Plays conversations of every kind on a company's engines, while each kind of process is killed, frozen and
 * cut off, and a deploy rolls at half time. The closing line is the verdict.
 *
 * @returns true if nothing was found
 */
export async function rehearse(
  startEngines: StartEngines,
  { minutes, sessions, waiting, plant: planted, calm, beside }: Options,
): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'helix-rehearsal-'));
  const say = createSay((line) => {
    appendFileSync(join(folder, 'rehearsal.log'), line);
  });
  const rollout = beside === undefined ? withWorkerVersions() : onOneQueue(beside);
  const wires = createWires();
  const ends: (() => unknown)[] = [wires.close];
  let isClean = false;
  try {
    say('starting PostgreSQL, a Temporal server of four roles, and a Redis Cluster of six nodes');
    const engines = await startEngines(wires);
    ends.push(engines.close);
    const { url: redisUrl } = engines.redis;
    const temporalAddress = engines.temporal.address;
    const connection = await Connection.connect({ address: temporalAddress });
    ends.push(() => connection.close());
    const client = new Client({ connection });
    say('starting three workers of two versions, two APIs and a proxy');
    const fleet = await startFleet({
      redisUrl,
      temporalAddress,
      taskQueue: TASK_QUEUE,
      versions: rollout.versions,
      client,
      whenStarted: () => rollout.begin(client),
      wires,
      folder,
      say,
    });
    ends.push(fleet.stop);
    const redis = new Cluster(redisUrl.slice('redis-cluster://'.length).split(','));
    ends.push(() => redis.disconnect());
    // Nodes of the cluster come and go.
    redis.on('error', () => undefined);
    const requests = createRequests(() => fleet.url);
    isClean = await play({
      pickUrl: () => fleet.url,
      redis,
      temporal: client,
      taskQueue: TASK_QUEUE,
      minutes,
      people: sessions,
      pauses: { betweenTurns: Math.min(THINKS_MS, minutes * 6_000), betweenConversations: 200 },
      faults: calm ? {} : listFaults(engines, fleet, wires),
      faultPauses: { min: 3_000, max: 8_000 },
      planted,
      waiting,
      deploy: async () => {
        await sleep(minutes * 30_000);
        say('deploy');
        const left = await rollout.deploy(client, fleet, say);
        say('the deploy is rolled');
        return left;
      },
      examine: async (sessionId, why) => {
        const file = await lookAtStuck({ requests, redis, client, folder }, sessionId, why);
        say(`what it was doing is in ${file}`);
      },
      say,
    });
    return isClean;
  } finally {
    for (const end of ends.reverse()) await end();
    if (isClean || planted.length > 0) rmSync(folder, { recursive: true });
    else
      process.stderr.write(
        `The logs of the processes, and a report of each stuck conversation, are in ${folder}\n`,
      );
  }
}
