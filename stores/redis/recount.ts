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
  { redis, keys, change }: Pick<RedisContext, 'redis' | 'keys' | 'change'>,
  sessionId: string,
  counted: number,
): Promise<void> {
  const { rows, results } = keys.session(sessionId);
  let found = 0;
  const add = (texts: readonly string[]): void => {
    for (const text of texts) found += Buffer.byteLength(text);
  };
  for (let from = 0; ; from += ROWS_AT_ONCE) {
    const page = await callRedis(redis.lrange(rows, from, from + ROWS_AT_ONCE - 1));
    add(page);
    if (page.length < ROWS_AT_ONCE) break;
  }
  add(await callRedis(redis.hvals(results)));
  await change(sessionId, (session) => {
    const { record, content } = session;
    if (record?.agent === undefined) return;
    const queued = record.queue.flatMap(({ messages }) =>
      messages.map(({ id }) => content.get(`q:${id}`) ?? ''),
    );
    const states = record.state.kept.reduce((sum, [, bytes]) => sum + bytes, 0);
    const more = queued.reduce((sum, text) => sum + Buffer.byteLength(text), states);
    // What was stored during the measurement stays counted.
    record.sizes.stored += found + more - counted;
    record.sizes.isComplete = true;
  });
}
