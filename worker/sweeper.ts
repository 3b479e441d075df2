/**
 * Time between two sweeps. A lease in Redis decides which process sweeps; the interval varies, so
 * that processes take turns.
 */
const INTERVAL_MS = 500;

/** Sweeps repeatedly until stopped; `stop` resolves once a sweep in progress has ended. */
export function startSweeper(
  sweep: () => Promise<void>,
  logger: { warn: (fields: object, message: string) => void },
): { stop: () => Promise<void> } {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let current = Promise.resolve();

  function run(): void {
    current = sweep()
      .catch((error: unknown) => {
        // Redis is unavailable; the sessions are due again when it is back.
        logger.warn({ err: error }, 'sweep failed');
      })
      .finally(() => {
        if (!stopped) timer = setTimeout(run, INTERVAL_MS * (0.5 + Math.random()));
      });
  }
  run();

  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await current;
    },
  };
}
