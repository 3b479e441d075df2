import type { Owners } from '../stores/contract/owners.js';

/** Each owner's conversations are looked through this often. */
const REPAIR_MS = 60 * 60 * 1000;
/** Owners of one sweep: more than 36,000 owners are looked through less often. */
const MOST = 10;

/**
 * Recounts the conversations of owners who are due: what owners are charged is written after their
 * sessions, and may have been lost with a process. In the background, one owner at a time.
 */
export function createRepair(
  owners: Pick<Owners, 'take' | 'repair'>,
  logger: { warn: (fields: object, message: string) => void },
): () => void {
  let isUnderWay = false;
  const warn = (error: unknown): void => {
    logger.warn({ err: error }, "an owner's conversations were not looked through");
  };

  async function repair(): Promise<void> {
    for (const owner of await owners.take(MOST, REPAIR_MS)) await owners.repair(owner).catch(warn);
  }

  return () => {
    if (isUnderWay) return;
    isUnderWay = true;
    repair()
      .catch(warn)
      .finally(() => {
        isUnderWay = false;
      });
  };
}
