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

export type FloorActivities = typeof ACTIVITIES;

const ACTIVITIES = {
  /** Returns its own start and end. */
  mark: async (): Promise<Span> => {
    const begin = wallClock();
    return { begin, end: wallClock() };
  },
  /** Runs for `ms`. */
  work: async (ms: number): Promise<Span> => {
    const begin = wallClock();
    await sleep(ms);
    return { begin, end: wallClock() };
  },
  /** Heartbeats like a model step until it is cancelled; returns the time when it noticed. */
  hang: async () => {
    await beatUntilCancelled();
    return wallClock();
  },
  /** The first attempt heartbeats indefinitely; a later one returns its start time. */
  outlive: async () => {
    const begin = wallClock();
    if (Context.current().info.attempt === 1) await beatUntilCancelled();
    return begin;
  },
};

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
      activities: ACTIVITIES,
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
