/** The commands that were sent and not answered. */
export interface Unanswered {
  /** Does work on Redis, and counts it until it is answered, also by an error. */
  during: <T>(work: () => Promise<T>) => Promise<T>;
  /**
   * How long nothing has been answered, while a command waits for it, ms; 0: Redis answered all. Of a
   * cluster whose other nodes answer no more is said.
   */
  silentMs: () => number;
}

/** Commands that wait for a connection count: a process that has none cannot write either. */
export function createUnanswered(): Unanswered {
  // In the order in which they were sent, so that the oldest is the first.
  const sentAt = new Map<object, number>();
  let answeredAt = 0;
  return {
    during: async (work) => {
      const command = {};
      sentAt.set(command, performance.now());
      try {
        return await work();
      } finally {
        sentAt.delete(command);
        answeredAt = performance.now();
      }
    },
    silentMs: () => {
      for (const sent of sentAt.values()) return performance.now() - Math.max(sent, answeredAt);
      return 0;
    },
  };
}
