/** Tracks commands that were sent and not answered. */
export interface Unanswered {
  /** Runs work on Redis and counts it until it is answered, also with an error. */
  during: <T>(work: () => Promise<T>) => Promise<T>;
  /**
   * How long nothing was answered while a command waits, ms; 0 if nothing waits. For a cluster
   * whose other nodes answer, it does not detect a single silent node.
   */
  silentMs: () => number;
}

/** Commands that wait for a connection count too: a process without one cannot write either. */
export function createUnanswered(): Unanswered {
  // In the order of sending, so the oldest comes first.
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
