import { Context } from '@temporalio/activity';
import { sleep, wallClock } from '../clock.js';
import type { Span } from './names.js';

const HEARTBEAT_MS = 1_000;

export interface FloorActivities {
  /** Does nothing but say when. */
  mark: () => Promise<Span>;
  /** Takes as long as it is told. */
  work: (ms: number) => Promise<Span>;
  /** Heartbeats like a model step until it is cancelled; says when it learned of it. */
  hang: () => Promise<number>;
  /** Heartbeats for ever at its first attempt; a later one says when it began. */
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
