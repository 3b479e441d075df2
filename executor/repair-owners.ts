import type { Owners } from '../stores/contract/owners.js';

/** Each owner's conversations are looked through this often. */
const REPAIR_MS = 60 * 60 * 1000;

/**
 * Looks through the conversations of an owner who is due: what owners are charged for follows behind
 * their sessions, and may have been lost with a process. One owner at a time, beside all else.
 */
export function createRepair(
  owners: Pick<Owners, 'take' | 'repair'>,
  logger: { warn: (fields: object, message: string) => void },
): () => void {
  let isUnderWay = false;

  async function repair(): Promise<void> {
    const [owner] = await owners.take(1, REPAIR_MS);
    if (owner !== undefined) await owners.repair(owner);
  }

  return () => {
    if (isUnderWay) return;
    isUnderWay = true;
    repair()
      .catch((error: unknown) => {
        logger.warn({ err: error }, "an owner's conversations were not looked through");
      })
      .finally(() => {
        isUnderWay = false;
      });
  };
}
