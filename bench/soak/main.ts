import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { Redis } from 'ioredis';
import { createSay, readServers, runProgram } from '../command.js';
import { watchMemory } from './audit.js';
import { listFaults, startFleet } from './fleet.js';
import { play } from './play.js';
import { readPlanted, type Kind } from './verdict.js';

const TASK_QUEUE = 'soak';
/** Pauses of one person. */
const PAUSES = { betweenConversations: 200 };

/**
 * `npm run soak -- --minutes 30`: plays conversations of every kind while workers, APIs, wires and Redis fail
 * at random. scripts/bench.mjs builds the product and starts the engines. The closing line is the verdict;
 * the exit code is 1 if anything was found.
 */
async function main(): Promise<void> {
  const options = readOptions();
  const say = createSay();
  const servers = readServers();
  const redis = new Redis(servers.redisUrl);
  const connection = await Connection.connect({ address: servers.temporalAddress });
  say('starting two workers and two APIs');
  const fleet = await startFleet(servers, TASK_QUEUE);
  try {
    const isClean = await play({
      ...options,
      pickUrl: fleet.pickUrl,
      redis,
      temporal: new Client({ connection }),
      taskQueue: TASK_QUEUE,
      pauses: PAUSES,
      faults: listFaults(fleet, redis),
      faultPauses: { least: 4_000, most: 10_000 },
      findGrowing: watchMemory(fleet.steady),
      say,
    });
    if (!isClean) process.exitCode = 1;
  } finally {
    await fleet.stop();
    redis.disconnect();
    await connection.close();
  }
}

interface Options {
  minutes: number;
  /** Number of concurrent people. */
  people: number;
  /** Kinds of faults to plant, to show that they are detected. */
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

runProgram(main);
