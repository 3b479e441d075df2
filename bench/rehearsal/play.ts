import { randomInt } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Client } from '@temporalio/client';
import { Cluster } from 'ioredis';
import { sleep } from '../clock.js';
import { auditAll } from '../soak/audit.js';
import type { Conversation, Talk } from '../soak/conversation.js';
import { countTurns, talkUntil } from '../soak/people.js';
import { plant } from '../soak/plants.js';
import { createRequests } from '../soak/requests.js';
import { createVerdict, formatVerdict, isClean } from '../soak/verdict.js';
import type { Engines } from './company.js';
import { listFaults, type Faults } from './faults.js';
import type { Fleet } from './fleet.js';
import { lookAtStuck } from './look-at-stuck.js';
import type { Options } from './options.js';
import type { Rollout } from './rollout.js';
import type { Wires } from './wires.js';

export const TASK_QUEUE = 'rehearsal';
/** A person reads and thinks, at the most: then a sixth of them wait for a reply at any time. */
const THINKS_MS = 40_000;
const PROGRESS_MS = 15_000;

/** Everything that runs. */
interface Stage {
  engines: Engines;
  fleet: Fleet;
  wires: Wires;
  rollout: Rollout;
  client: Client;
  say: (text: string) => void;
  /** Where reports are written. */
  folder: string;
}

/** @returns whether the verdict, which it prints, is clean */
export async function play(
  { engines, fleet, wires, rollout, client, say, folder }: Stage,
  options: Options,
): Promise<boolean> {
  const verdict = createVerdict();
  const requests = createRequests(() => fleet.url);
  const redis = new Cluster(
    engines.redis.url.slice('redis-cluster://'.length).split(',').map(toNode),
  );
  // Its nodes come and go.
  redis.on('error', () => undefined);
  const examine = async (sessionId: string, why: string): Promise<void> => {
    const file = await lookAtStuck({ requests, redis, client, folder }, sessionId, why);
    say(`what it was doing is in ${file}`);
  };
  const talk: Talk = { requests, verdict, say, examine };
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
    say('deploy');
    await rollout.deploy(client, fleet);
    say('the deploy is rolled');
  })();
  const faulty = options.calm ? {} : listFaults(engines, fleet, wires);
  const failing = playFaults(faulty, end, count);
  await Promise.all([failing, deploying, ...talking]);
  clearInterval(progress);

  say('everything rests; looking at all of it once more');
  try {
    for (const kind of options.planted) await plant(kind, redis, conversations);
    for (const { sessionId, isStuck } of conversations) {
      if (isStuck) await examine(sessionId, 'a later look, when nothing fails any more');
    }
    await auditAll(talk, conversations, { redis, temporal: client, taskQueue: TASK_QUEUE });
  } finally {
    redis.disconnect();
  }
  const counted = [...faults].map(([name, times]) => `${name} ${String(times)}`).join(' · ');
  const turns = countTurns(conversations);
  console.log(`${String(turns)} turns in ${String(conversations.length)} conversations`);
  console.log(`faults: ${counted}`);
  console.log(formatVerdict(verdict));
  const played = [...faults.values()].reduce((sum, times) => sum + times, 0);
  return isClean(verdict, { turns, faults: options.calm ? undefined : played });
}

function toNode(text: string): { host: string; port: number } {
  const [host = '', port] = text.split(':');
  return { host, port: Number(port) };
}

const LEAST_PAUSE_MS = 3_000;

const MOST_PAUSE_MS = 8_000;

/**
 * Plays the faults one after the other, each once before any comes again, until the time is over;
 * resolves when the last one is over.
 */
async function playFaults(
  faults: Faults,
  end: AbortSignal,
  onFault: (name: string) => void,
): Promise<void> {
  while (Object.keys(faults).length > 0) {
    for (const [name, play] of shuffled(Object.entries(faults))) {
      await sleep(LEAST_PAUSE_MS + randomInt(MOST_PAUSE_MS - LEAST_PAUSE_MS));
      if (end.aborted) return;
      onFault(name);
      await play();
    }
  }
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
