import type { RedisContext } from './context.js';
import { reach } from './errors.js';

/** Rows that are read at once. */
const ROWS_AT_ONCE = 200;

/**
 * Reads all that a session stores, and corrects what it is known to store: once for a session of
 * release 0.2.0, which counted nothing, and after a retry that dropped more rows than are looked at.
 *
 * @param counted its `bytes` before
 */
export async function recount(
  { redis, keys, transitions }: Pick<RedisContext, 'redis' | 'keys' | 'transitions'>,
  sessionId: string,
  counted: number,
): Promise<void> {
  const { rows, states, results, queue } = keys.session(sessionId);
  let found = 0;
  const add = (texts: readonly string[]): void => {
    for (const text of texts) found += Buffer.byteLength(text);
  };
  for (let from = 0; ; from += ROWS_AT_ONCE) {
    const page = await reach(redis.lrange(rows, from, from + ROWS_AT_ONCE - 1));
    add(page);
    if (page.length < ROWS_AT_ONCE) break;
  }
  add(await reach(redis.hvals(states)));
  add(await reach(redis.hvals(results)));
  add(await reach(redis.lrange(queue, 0, -1)));
  await transitions.run('recount', sessionId, { found, counted });
}
