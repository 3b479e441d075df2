import { mkdtempSync, rmSync } from 'node:fs';
import { setMaxListeners } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { Cluster } from 'ioredis';
import { sleep } from '../clock.js';
import { auditAll } from '../soak/audit.js';
import type { Conversation, Talk } from '../soak/conversation.js';
import { countTurns, talkUntil } from '../soak/people.js';
import { plant } from '../soak/plants.js';
import { createRequests } from '../soak/requests.js';
import { createVerdict, formatVerdict, isClean } from '../soak/verdict.js';
import type { Engines, StartEngines } from './company.js';
import { listFaults } from './faults.js';
import { startFleet, type Fleet } from './fleet.js';
import type { Options } from './options.js';
import { playFaults, rollDeploy } from './play-faults.js';
import { createWires } from './wires.js';

export { readOptions } from './options.js';

const TASK_QUEUE = 'rehearsal';
/** A person reads and thinks, at the most: then a sixth of them wait for a reply at any time. */
const THINKS_MS = 40_000;
const PROGRESS_MS = 15_000;

/** What scripts/rehearse.mjs has found and built. */
export interface Given {
  startEngines: StartEngines;
  /** Folder of the build of the former version; absent: all processes are of this one. */
  formerBuild: string | undefined;
}

/**
 * Conversations of every kind on the engines of a company, while each kind of process is killed,
 * stopped and cut off, and a deploy is rolled at half time. The closing line says what was found.
 *
 * @returns whether nothing was found
 */
export async function rehearse(given: Given, options: Options): Promise<boolean> {
  const startedAt = Date.now();
  const say = (text: string): void => {
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(0).padStart(5);
    process.stderr.write(`${seconds} s  ${text}\n`);
  };
  const wires = createWires();
  const folder = mkdtempSync(join(tmpdir(), 'helix-rehearsal-'));
  let engines: Engines | undefined;
  let fleet: Fleet | undefined;
  try {
    say('starting PostgreSQL, a Temporal server of four roles, and a Redis Cluster of six nodes');
    engines = await given.startEngines(wires);
    say('starting three workers, two APIs and a proxy');
    fleet = await startFleet({
      ...{ redisUrl: engines.redis.url, temporalAddress: engines.temporal.address },
      ...{ taskQueue: TASK_QUEUE, formerBuild: given.formerBuild, wires, folder, say },
    });
    const clean = await play({ engines, fleet, wires, say }, options);
    if (clean) rmSync(folder, { recursive: true });
    else process.stderr.write(`The logs of the processes are in ${folder}\n`);
    return clean;
  } finally {
    await fleet?.stop();
    await engines?.close();
    wires.close();
  }
}

interface Stage {
  engines: Engines;
  fleet: Fleet;
  wires: ReturnType<typeof createWires>;
  say: (text: string) => void;
}

async function play({ engines, fleet, wires, say }: Stage, options: Options): Promise<boolean> {
  const verdict = createVerdict();
  const talk: Talk = { requests: createRequests(() => fleet.url), verdict, say };
  const conversations: Conversation[] = [];
  const faults = new Map<string, number>();
  const count = (name: string): void => {
    faults.set(name, (faults.get(name) ?? 0) + 1);
    say(name);
  };
  const end = AbortSignal.timeout(options.minutes * 60_000);
  setMaxListeners(0, end);
  const progress = setInterval(() => {
    say(`${String(countTurns(conversations))} turns. ${formatVerdict(verdict)}`);
  }, PROGRESS_MS);
  const betweenTurns = Math.min(THINKS_MS, options.minutes * 6_000);
  const talking = Array.from({ length: options.sessions }, () =>
    talkUntil(end, talk, conversations, { betweenTurns, betweenConversations: 200 }),
  );
  const deploying = (async () => {
    await sleep(options.minutes * 30_000);
    count('deploy');
    await rollDeploy(fleet);
    say('the deploy is rolled');
  })();
  const failing = playFaults(listFaults(engines, fleet, wires), end, count);
  await Promise.all([failing, deploying, ...talking]);
  clearInterval(progress);

  say('everything rests; looking at all of it once more');
  const address = engines.temporal.address;
  const connection = await Connection.connect({ address });
  const redis = new Cluster(
    engines.redis.url.slice('redis-cluster://'.length).split(',').map(toNode),
  );
  try {
    for (const kind of options.planted) await plant(kind, redis, conversations);
    const temporal = new Client({ connection });
    await auditAll(talk, conversations, { redis, temporal, taskQueue: TASK_QUEUE });
  } finally {
    redis.disconnect();
    await connection.close();
  }
  const counted = [...faults].map(([name, times]) => `${name} ${String(times)}`).join(' · ');
  const turns = String(countTurns(conversations));
  console.log(`${turns} turns in ${String(conversations.length)} conversations`);
  console.log(`faults: ${counted}`);
  console.log(formatVerdict(verdict));
  return isClean(verdict);
}

function toNode(text: string): { host: string; port: number } {
  const [host = '', port] = text.split(':');
  return { host, port: Number(port) };
}
