import type { RedisConnection } from './clients.js';
import { ANY_LIBRARY, libraryName } from './library.js';
import { mastersOf } from './masters.js';

const HOUR_MS = 60 * 60 * 1_000;
/** Names of our libraries; others may share the prefix. */
const OURS = /^hx_[0-9a-f]{12}$/;

/**
 * Deletes libraries that no living process announces, at most once an hour. A library that is still
 * needed is loaded again by the next call.
 */
export function createPruning(redis: RedisConnection): (living: readonly string[]) => void {
  let prunedAt: number | undefined;
  return (living) => {
    const now = performance.now();
    if (prunedAt !== undefined && now - prunedAt < HOUR_MS) return;
    prunedAt = now;
    const needed = new Set(living.map((hash) => libraryName({ hash })));
    for (const node of mastersOf(redis)) {
      // Ignored: the server may lack functions, or the user the right to delete them.
      pruneOn(node, needed).catch(() => undefined);
    }
  };
}

async function pruneOn(
  node: ReturnType<typeof mastersOf>[number],
  needed: ReadonlySet<string>,
): Promise<void> {
  const libraries = (await node.function('LIST', 'LIBRARYNAME', ANY_LIBRARY)) as unknown[][];
  for (const [, name] of libraries) {
    if (typeof name !== 'string' || !OURS.test(name) || needed.has(name)) continue;
    await node.function('DELETE', name);
  }
}
