import { fileURLToPath } from 'node:url';
import { Context } from '@temporalio/activity';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { endWithParent, startProcess } from '../../config/startup.js';
import { sleep, wallClock } from '../clock.js';
import { FLOOR_TASK_QUEUE } from './floor-client.js';

const HEARTBEAT_MS = 1_000;

/** When an activity's own code began and ended, wall clock in ms. */
export interface Span {
  begin: number;
  end: number;
}

export interface FloorActivities {
  /** Only returns its own start and end. */
  mark: () => Promise<Span>;
  /** Takes `ms`. */
  work: (ms: number) => Promise<Span>;
  /** Heartbeats like a model step until it is cancelled; returns when it noticed. */
  hang: () => Promise<number>;
  /** The first attempt heartbeats indefinitely; a later one returns the time of its start. */
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

/** The floor's worker: a process of its own, with what makes the product's worker fast. */
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
