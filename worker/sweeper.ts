/**
 * Sweeps again about this long after a sweep. Leases in Redis say who does; by chance now this process
 * comes first, now another.
 */
const INTERVAL_MS = 500;

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
