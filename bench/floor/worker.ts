import { fileURLToPath } from 'node:url';
import { Context } from '@temporalio/activity';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { endWithParent, startProcess } from '../../config/startup.js';
import { sleep, wallClock } from '../clock.js';
import { FLOOR_TASK_QUEUE } from './floor-client.js';

const HEARTBEAT_MS = 1_000;

/** Start and end of an activity's own code, wall clock in ms. */
export interface Span {
  begin: number;
  end: number;
}

export interface FloorActivities {
  /** Returns its own start and end. */
  mark: () => Promise<Span>;
  /** Runs for `ms`. */
  work: (ms: number) => Promise<Span>;
  /** Heartbeats like a model step until it is cancelled; returns the time when it noticed. */
  hang: () => Promise<number>;
  /** The first attempt heartbeats indefinitely; a later one returns its start time. */
  outlive: () => Promise<number>;
}

function createFloorActivities(): FloorActivities {
  return {
    mark: async () => {
      const begin = wallClock();
      return { begin, end: wallClock() };
    },
    work: async (ms) => {
      const begin = wallClock();
      await sleep(ms);
      return { begin, end: wallClock() };
    },
    hang: async () => {
      await beatUntilCancelled();
      return wallClock();
    },
    outlive: async () => {
      const begin = wallClock();
      if (Context.current().info.attempt === 1) await beatUntilCancelled();
      return begin;
    },
  };
}

async function beatUntilCancelled(): Promise<void> {
  const context = Context.current();
  const timer = setInterval(() => {
    context.heartbeat();
  }, HEARTBEAT_MS);
  await context.cancelled.catch(() => undefined);
  clearInterval(timer);
}

/** Runs the floor's worker as a process with the tuning of the product's worker. */
async function main(): Promise<void> {
  endWithParent(process);
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const address = process.env['TEMPORAL_ADDRESS'];
  const connection = await NativeConnection.connect(address === undefined ? {} : { address });
  try {
    const worker = await Worker.create({
      connection,
      taskQueue: process.argv[2] ?? FLOOR_TASK_QUEUE,
      activities: { ...createFloorActivities() },
      workflowsPath: fileURLToPath(new URL('./workflows.js', import.meta.url)),
      maxHeartbeatThrottleInterval: '1s',
      defaultHeartbeatThrottleInterval: '1s',
      maxConcurrentActivityTaskExecutions: 1_000,
    });
    await worker.run();
  } finally {
    await connection.close();
  }
}

startProcess(main);
