import { withoutSecrets } from './startup.js';

/** Log lines about a collector: one when it goes away, and one when it is back. */
export interface CollectorLines {
  /** An export failed. */
  away: (reason: string) => void;
  /** An export arrived. */
  back: () => void;
}

/** @param what is exported, in words @param setting the variable that names its address */
export function createCollectorLines(
  logger: {
    info: (fields: object, message: string) => void;
    warn: (fields: object, message: string) => void;
  },
  { what, setting, url }: { what: string; setting: string; url: string },
): CollectorLines {
  const named = `The collector at ${withoutSecrets(url)}`;
  let awaySince: number | undefined;
  return {
    away: (reason) => {
      if (awaySince !== undefined) return;
      awaySince = performance.now();
      const text = `${named} does not take ${what}: start it, or correct ${setting}. Runs are not affected.`;
      logger.warn({ cause: reason.slice(0, 500) }, text);
    },
    back: () => {
      if (awaySince === undefined) return;
      const awaySeconds = Math.round((performance.now() - awaySince) / 1_000);
      awaySince = undefined;
      logger.info({ awaySeconds }, `${named} takes ${what} again.`);
    },
  };
}
