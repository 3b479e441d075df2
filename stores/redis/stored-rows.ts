import type { Row } from '../../protocol/rows.js';
import type { OpenCall } from '../contract/call-record.js';
import type { RedisContext } from './context.js';
import { reach } from './errors.js';
import { resolveRows, type ReadResults } from './large-results.js';
import { parseRow } from './stored-json.js';

export interface StoredRows {
  /** Rows as they were stored, with the large results that are kept apart from them. */
  toRows: (sessionId: string, rows: string[]) => Promise<Row[]>;
  /** Fields of a root with what the run came to, if that is kept apart. */
  withOutput: (sessionId: string, root: Record<string, string>) => Promise<Record<string, string>>;
  /** The same for the results of calls that no step has taken in. */
  withResults: (sessionId: string, calls: OpenCall[]) => Promise<OpenCall[]>;
}

export function createStoredRows({
  redis,
  keys,
}: Pick<RedisContext, 'redis' | 'keys'>): StoredRows {
  const readResults =
    (sessionId: string): ReadResults =>
    (ids) =>
      reach(redis.hmget(keys.session(sessionId).results, ...ids));
  return {
    toRows: (sessionId, rows) =>
      resolveRows(
        rows.map((row, at) => parseRow(row, `row ${String(at)}`)),
        readResults(sessionId),
      ),
    withOutput: async (sessionId, root) => {
      const { outputRef } = root;
      if (outputRef === undefined) return root;
      const [output] = await readResults(sessionId)([outputRef]);
      return output == null ? root : { ...root, output };
    },
    withResults: (sessionId, calls) =>
      Promise.all(
        calls.map(async (call) => {
          if (call.row === undefined) return call;
          const [row = call.row] = await resolveRows([call.row], readResults(sessionId));
          return { ...call, row };
        }),
      ),
  };
}
