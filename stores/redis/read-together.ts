import type { Commands, Reads } from './commands.js';
import { isDiscarded, reach, unpack } from './errors.js';

/**
 * Reads of one moment. A full Redis queues no transaction: then they follow each other at once, and
 * little is written between them.
 */
export async function readTogether(
  redis: Commands,
  add: (reads: Reads) => unknown,
): Promise<unknown[]> {
  const read = async (reads: Reads): Promise<unknown[]> => {
    add(reads);
    return unpack(await reads.exec());
  };
  return reach(
    read(redis.multi()).catch((error: unknown) => {
      if (!isDiscarded(error)) throw error;
      return read(redis.pipeline());
    }),
  );
}
