/** The commands that were sent and not answered. */
export interface Unanswered {
  /** Does work on Redis, and counts it until it is answered, also by an error. */
  during: <T>(work: () => Promise<T>) => Promise<T>;
  /** How long the oldest of them has waited, ms; 0: Redis answered all. */
  longestMs: () => number;
}

/** Commands that wait for a connection count: a process that has none cannot write either. */
export function createUnanswered(): Unanswered {
  // In the order in which they were sent, so that the oldest is the first.
  const sentAt = new Map<object, number>();
  return {
    during: async (work) => {
      const command = {};
      sentAt.set(command, performance.now());
      try {
        return await work();
      } finally {
        sentAt.delete(command);
      }
    },
    longestMs: () => {
      for (const sent of sentAt.values()) return performance.now() - sent;
      return 0;
    },
  };
}
