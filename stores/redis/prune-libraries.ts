import type { RedisConnection } from './clients.js';
import { ANY_LIBRARY, libraryName } from './library.js';
import { mastersOf } from './masters.js';

const HOUR_MS = 60 * 60 * 1_000;
/** Libraries of other makers may begin as ours do. */
const OURS = /^hx_[0-9a-f]{12}$/;

/**
 * Deletes libraries that no living process announces, at most once an hour. A library that is needed
 * after all is loaded again by whoever calls it.
 */
export function createPruning(redis: RedisConnection): (living: readonly string[]) => void {
  let prunedAt: number | undefined;
  return (living) => {
    const now = performance.now();
    if (prunedAt !== undefined && now - prunedAt < HOUR_MS) return;
    prunedAt = now;
    const needed = new Set(living.map((hash) => libraryName({ hash })));
    for (const node of mastersOf(redis)) {
      // A server without functions, or a user who may not delete them, keeps what it has.
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
