/** Starts of workflows, and other work in the background of the requests that made the runs. */
export interface Launches {
  /** Starts in the background; a start that fails is left to the sweeper, since the run is noted as due. */
  launch: (runId: string, start: () => Promise<void>) => void;
  /** Work that does not fail. */
  inBackground: (work: Promise<void>) => void;
  /** Resolves when nothing is in progress, whether it succeeded or not. */
  idle: () => Promise<void>;
}

/** While Temporal is away each start lasts until its deadline: at most this many are in progress. */
const MOST_AT_ONCE = 200;

export function createLaunches(logger: {
  warn: (fields: object, message: string) => void;
}): Launches {
  const underWay = new Set<Promise<void>>();
  const others = new Set<Promise<void>>();

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
    inBackground: (work) => {
      const done = work.finally(() => others.delete(done));
      others.add(done);
    },
    idle: async () => {
      while (underWay.size + others.size > 0) await Promise.all([...underWay, ...others]);
    },
  };
}
