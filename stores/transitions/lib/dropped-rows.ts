import { cjson, redis } from './host.js';
import { readHeads } from './rows.js';
import type { Session } from './session.js';

/**
 * Of many dropped rows those that are forgotten at once, the newest: message ids and call ids of the
 * others are recognised by their rows, which are gone.
 */
const FORGOTTEN_AT_ONCE = 300;

/** Drops the rows behind the first ones, with what is known by their ids. */
export function dropRows(session: Session, keep: number): void {
  const count = redis.call('LLEN', session.rows);
  for (const head of readHeads(session, Math.max(keep, count - FORGOTTEN_AT_ONCE), -1)) {
    if (head.role === 'user') {
      redis.call('HDEL', session.messages, head.id ?? '');
      redis.call('HDEL', session.places, `m:${head.id ?? ''}`);
    } else if (head.role === 'tool') {
      forgetCall(session, head.toolCallId ?? '');
    }
  }
  if (keep > 0) redis.call('LTRIM', session.rows, 0, keep - 1);
  else redis.call('UNLINK', session.rows);
}

/** Its result, what waits to be told of it, and what a late answer to it would be measured by. */
function forgetCall(session: Session, id: string): void {
  redis.call('HDEL', session.results, id);
  redis.call('HDEL', session.calls, `lapsed:${id}`, `lapsedAt:${id}`);
  for (const json of redis.call('LRANGE', session.notices, 0, -1)) {
    if ((cjson.decode(json) as { id: string }).id === `late-${id}`) {
      redis.call('LREM', session.notices, 1, json);
    }
  }
}
