import { cjson, formatInt, redis } from './host.js';
import { dropFields } from './root.js';
import { readHead } from './rows.js';
import type { Session } from './session.js';
import { countStored, sizeOf, sizeOfFields } from './size.js';

/**
 * Of many dropped rows only the newest are forgotten by id. Message ids and call ids of the others
 * are recognised as dropped because their rows no longer exist.
 */
const FORGOTTEN_AT_ONCE = 300;

/** Drops all rows after the first `keep`, with what is stored under their ids. */
export function dropRows(session: Session, keep: number): void {
  const count = redis.call('LLEN', session.rows);
  const from = Math.max(keep, count - FORGOTTEN_AT_ONCE);
  const rows = redis.call('LRANGE', session.rows, formatInt(from), '-1');
  countStored(session, -sizeOf(rows));
  // The size of the other rows is unknown; `recount` corrects it later.
  if (from > keep) dropFields(session, ['counted']);
  for (const row of rows) {
    const head = readHead(row);
    if (head.role === 'user') {
      redis.call('HDEL', session.messages, head.id ?? '');
      redis.call('HDEL', session.places, `m:${head.id ?? ''}`);
    } else if (head.role === 'tool') {
      forgetCall(session, head.toolCallId ?? '');
    }
  }
  if (keep > 0) redis.call('LTRIM', session.rows, '0', formatInt(keep - 1));
  else redis.call('UNLINK', session.rows);
}

/**
 * Forgets a call: its result, a note about it that waits, and what a late answer would be checked
 * against.
 */
function forgetCall(session: Session, id: string): void {
  countStored(session, -sizeOfFields(session.results, [id]));
  redis.call('HDEL', session.results, id);
  redis.call('HDEL', session.calls, `lapsed:${id}`, `lapsedAt:${id}`);
  for (const json of redis.call('LRANGE', session.notices, '0', '-1')) {
    if ((cjson.decode(json) as { id: string }).id === `late-${id}`) {
      redis.call('LREM', session.notices, '1', json);
    }
  }
}
