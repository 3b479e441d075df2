import { Context } from '@temporalio/activity';
import { sleep, wallClock } from '../clock.js';
import type { Span } from './names.js';

const HEARTBEAT_MS = 1_000;

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

export function createFloorActivities(): FloorActivities {
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
