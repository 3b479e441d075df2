import type { Row } from '../../protocol/rows.js';
import type { OpenCall } from '../contract/call-record.js';
import type { RedisContext } from './context.js';
import { callRedis } from './errors.js';
import { resolveRows, type ReadResults } from './large-results.js';
import { parseRow } from './stored-json.js';

export interface StoredRows {
  /** Parses stored rows and restores large results that are stored apart. */
  toRows: (sessionId: string, rows: string[]) => Promise<Row[]>;
  /** Adds the result of the run to the fields of a root, if it is stored apart. */
  withOutput: (sessionId: string, root: Record<string, string>) => Promise<Record<string, string>>;
  /** Restores the large results of calls whose rows are not in the transcript yet. */
  withResults: (sessionId: string, calls: OpenCall[]) => Promise<OpenCall[]>;
}

export function createStoredRows({
  redis,
  keys,
}: Pick<RedisContext, 'redis' | 'keys'>): StoredRows {
  const readResults =
    (sessionId: string): ReadResults =>
    (ids) =>
      callRedis(redis.hmget(keys.session(sessionId).results, ...ids));
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
