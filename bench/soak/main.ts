import { Client, Connection } from '@temporalio/client';
import { Redis } from 'ioredis';
import { createSay, runProgram } from '../command.js';
import { watchMemory } from './audit.js';
import { listFaults, startFleet } from './fleet.js';
import { play } from './play.js';
import type { Kind } from './verdict.js';

const TASK_QUEUE = 'soak';

interface Options {
  minutes: number;
  /** Number of concurrent people. */
  people: number;
  /** Kinds of faults to plant, to show that they are detected. */
  plant: readonly Kind[];
}

/**
 * `npm run soak -- --minutes 30`: plays conversations of every kind while workers, APIs, wires and Redis fail
 * at random. The closing line is the verdict; the exit code is 1 if anything was found or a process crashed.
 */
runProgram<Options>(async ({ plant: planted, ...options }, servers) => {
  const say = createSay();
  const redis = new Redis(servers.redisUrl);
  const connection = await Connection.connect({ address: servers.temporalAddress });
  say('starting two workers and two APIs');
  const fleet = await startFleet(servers, TASK_QUEUE, say);
  try {
    const isClean = await play({
      ...options,
      planted,
      pickUrl: fleet.pickUrl,
      redis,
      temporal: new Client({ connection }),
      taskQueue: TASK_QUEUE,
      pauses: { betweenConversations: 200 },
      faults: listFaults(fleet, redis),
      faultPauses: { min: 4_000, max: 10_000 },
      findGrowing: watchMemory(fleet.steady),
      say,
    });
    const members = Object.values(fleet.mortal);
    if (!isClean || members.some(({ crashes }) => crashes() > 0)) process.exitCode = 1;
  } finally {
    await fleet.stop();
    redis.disconnect();
    await connection.close();
  }
});
