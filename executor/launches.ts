/** Starts of workflows that run beside the requests which made the runs. */
export interface Launches {
  /** Carries a start out; one that fails is left to the sweeper, which has noted the run as due. */
  launch: (runId: string, start: () => Promise<void>) => void;
  /** Resolves when no start is under way, whatever became of them. */
  idle: () => Promise<void>;
}

/** While Temporal is away each start lasts as long as its deadline: this many are under way at most. */
const MOST_AT_ONCE = 200;

export function createLaunches(logger: {
  warn: (fields: object, message: string) => void;
}): Launches {
  const underWay = new Set<Promise<void>>();

  return {
    launch: (runId, start) => {
      if (underWay.size >= MOST_AT_ONCE) {
        logger.warn({ runId }, 'too many runs are being started; the sweeper starts this one');
        return;
      }
      const started = start()
        .catch((error: unknown) => {
          logger.warn({ err: error, runId }, 'the run could not be started; the sweeper starts it');
        })
        .finally(() => {
          underWay.delete(started);
        });
      underWay.add(started);
    },
    idle: async () => {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
