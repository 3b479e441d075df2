/** Sweeps again this long after a sweep; the lease in Redis makes it one process at a time. */
const INTERVAL_MS = 1_000;

/** Repeats the sweep until stopped; `stop` resolves when a sweep under way is over. */
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
        // Redis is away: the sessions are due again when it is back.
        logger.warn({ err: error }, 'sweep failed');
      })
      .finally(() => {
        if (!stopped) timer = setTimeout(run, INTERVAL_MS);
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
