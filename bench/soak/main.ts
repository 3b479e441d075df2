import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { Redis } from 'ioredis';
import { auditAll } from './audit.js';
import type { Conversation, Talk } from './conversation.js';
import { injectFaults } from './faults.js';
import { startFleet } from './fleet.js';
import { watchMemory } from './leaks.js';
import { countTurns, talkUntil } from './people.js';
import { plant } from './plants.js';
import { createRequests } from './requests.js';
import { createVerdict, formatVerdict, isClean, readPlanted, type Kind } from './verdict.js';

const TASK_QUEUE = 'soak';
/** Of one person between two conversations. */
const PAUSES = { betweenConversations: 200 };

/**
 * `npm run soak -- --minutes 30`: conversations of every kind, while workers, APIs, wires and Redis
 * fail at random. It runs inside scripts/soak.mjs, which builds the product and starts the engines.
 * The closing line says what was found; the exit code is 1 unless that is nothing.
 */
async function main(): Promise<boolean> {
  const { minutes, people, planted } = readOptions();
  const startedAt = Date.now();
  const say = (text: string): void => {
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(0).padStart(5);
    process.stderr.write(`${seconds} s  ${text}\n`);
  };
  const servers = {
    redisUrl: readVariable('TEST_REDIS_URL'),
    temporalAddress: readVariable('TEST_TEMPORAL_ADDRESS'),
  };
  const redis = new Redis(servers.redisUrl);
  const connection = await Connection.connect({ address: servers.temporalAddress });
  say('starting two workers and two APIs');
  const fleet = await startFleet(servers, TASK_QUEUE);
  const verdict = createVerdict();
  const talk: Talk = { requests: createRequests(fleet.pickUrl), verdict, say };
  const conversations: Conversation[] = [];
  const faults = new Map<string, number>();
  const end = AbortSignal.timeout(minutes * 60_000);
  try {
    const growing = watchMemory(fleet.steady);
    const failing = injectFaults(fleet, redis, end, (name) => {
      faults.set(name, (faults.get(name) ?? 0) + 1);
      say(name);
    });
    const talking = Array.from({ length: people }, () =>
      talkUntil(end, talk, conversations, PAUSES),
    );
    const progress = setInterval(() => {
      say(`${String(countTurns(conversations))} turns. ${formatVerdict(verdict)}`);
    }, 15_000);
    await Promise.all([failing, ...talking]);
    clearInterval(progress);
    say('everything rests; looking at all of it once more');
    for (const kind of planted) await plant(kind, redis, conversations);
    const temporal = new Client({ connection });
    await auditAll(talk, conversations, { redis, temporal, taskQueue: TASK_QUEUE });
    for (const process of growing()) {
      verdict.leaked += 1;
      say(`GROWS ${process}`);
    }
  } finally {
    await fleet.stop();
    redis.disconnect();
    await connection.close();
  }
  const counted = [...faults].map(([name, count]) => `${name} ${String(count)}`).join(' · ');
  console.log(
    `${String(countTurns(conversations))} turns in ${String(conversations.length)} conversations`,
  );
  console.log(`faults: ${counted}`);
  console.log(formatVerdict(verdict));
  const played = [...faults.values()].reduce((sum, times) => sum + times, 0);
  return isClean(verdict, { turns: countTurns(conversations), faults: played });
}

interface Options {
  minutes: number;
  /** How many talk at the same time. */
  people: number;
  /** Kinds of faults to plant, so that it can be seen that they are noticed. */
  planted: readonly Kind[];
}

/** @throws Error in one line */
function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '30' },
      people: { type: 'string', default: '12' },
      plant: { type: 'string', default: '' },
    },
  });
  const [minutes, people] = [Number(values.minutes), Number(values.people)];
  if (!(minutes > 0)) throw new Error(`--minutes has to be a number above 0: ${values.minutes}`);
  if (!(people >= 1)) throw new Error(`--people has to be 1 or more: ${values.people}`);
  const planted = readPlanted(values.plant);
  return { minutes, people, planted };
}

function readVariable(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: start this with npm run soak.`);
  return value;
}

main().then(
  (isClean) => process.exit(isClean ? 0 : 1),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? '') : String(error)}\n`);
    process.exit(2);
  },
);
