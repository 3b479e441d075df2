import type { RedisContext } from './context.js';
import { callRedis } from './errors.js';

/** Number of rows per read. */
const ROWS_AT_ONCE = 200;

/**
 * Measures all that a session stores and corrects its stored size. Needed after a rewind
 * that dropped very many rows.
 *
 * @param counted `bytes` before the measurement
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
    const page = await callRedis(redis.lrange(rows, from, from + ROWS_AT_ONCE - 1));
    add(page);
    if (page.length < ROWS_AT_ONCE) break;
  }
  add(await callRedis(redis.hvals(states)));
  add(await callRedis(redis.hvals(results)));
  add(await callRedis(redis.lrange(queue, 0, -1)));
  await transitions.run('recount', sessionId, { found, counted });
}
