import { Context } from '@temporalio/activity';
import { wallClock } from '../clock.js';
import type { Span } from './names.js';

const HEARTBEAT_MS = 1_000;

export interface FloorActivities {
  /** Does nothing but say when. */
  mark: () => Promise<Span>;
  /** Heartbeats like a model step until it is cancelled; says when it learned of it. */
  hang: () => Promise<number>;
}

export function createFloorActivities(): FloorActivities {
  return {
    mark: async () => {
      const begin = wallClock();
      return { begin, end: wallClock() };
    },
    hang: async () => {
      const context = Context.current();
      const timer = setInterval(() => {
        context.heartbeat();
      }, HEARTBEAT_MS);
      await context.cancelled.catch(() => undefined);
      clearInterval(timer);
      return wallClock();
    },
  };
}
