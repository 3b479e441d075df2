import type { Row } from '../../protocol/rows.js';
import type { OpenCall, SessionStore } from '../session-store.js';
import type { RedisContext } from './context.js';
import { reach, toContractError } from './connection.js';
import { resolveRows, type ReadResults } from './large-results.js';
import { parseStored } from './stored-json.js';
import { toOpenCall, toRecord } from './stored-record.js';

type Reads = Pick<
  SessionStore,
  'readRecord' | 'readRows' | 'readView' | 'readCall' | 'acceptedMessages'
>;

/** Reads of a session; each is of one moment. */
export function createSessionReads({ redis, keys }: RedisContext): Reads {
  const readResults =
    (sessionId: string): ReadResults =>
    (ids) =>
      reach(redis.hmget(keys.session(sessionId).results, ...ids));
  const toRows = (sessionId: string, rows: string[]): Promise<Row[]> =>
    resolveRows(
      rows.map((row, at) => parseStored(row, `row ${String(at)}`) as Row),
      readResults(sessionId),
    );
  const withResults = (sessionId: string, calls: OpenCall[]): Promise<OpenCall[]> =>
    Promise.all(
      calls.map(async (call) => {
        if (call.row === undefined) return call;
        const [row = call.row] = await resolveRows([call.row], readResults(sessionId));
        return { ...call, row };
      }),
    );

  return {
    readRecord: async (sessionId) =>
      toRecord(sessionId, await reach(redis.hgetall(keys.session(sessionId).root))),
    readRows: async (sessionId, from, to) => {
      if (to !== undefined && to <= from) return [];
      const end = to === undefined ? -1 : to - 1;
      return toRows(sessionId, await reach(redis.lrange(keys.session(sessionId).rows, from, end)));
    },
    readView: async (sessionId) => {
      const at = keys.session(sessionId);
      const replies = await reach(
        redis
          .multi()
          .hgetall(at.root)
          .lrange(at.rows, 0, -1)
          .lrange(at.order, 0, -1)
          .hgetall(at.calls)
          .exec(),
      );
      const [root, rows, order, calls] = (replies ?? []).map(([error, value]) => {
        if (error) throw toContractError(error);
        return value;
      }) as [Record<string, string>, string[], string[], Record<string, string>];
      const record = toRecord(sessionId, root);
      if (record === undefined) return undefined;
      return {
        record,
        rows: await toRows(sessionId, rows),
        openCalls: await withResults(
          sessionId,
          order.map((id) => toOpenCall(id, calls)),
        ),
      };
    },
    readCall: async (sessionId, toolCallId) => {
      const names = ['spec', 'state', 'row', 'decision', 'asked', 'deadline'].map(
        (name) => `${name}:${toolCallId}`,
      );
      const values = await reach(redis.hmget(keys.session(sessionId).calls, ...names));
      const found = names.flatMap((name, at) => (values[at] == null ? [] : [[name, values[at]]]));
      if (found.length === 0) return undefined;
      const call = toOpenCall(toolCallId, Object.fromEntries(found) as Record<string, string>);
      return (await withResults(sessionId, [call]))[0];
    },
    acceptedMessages: async (sessionId, ids) => {
      if (ids.length === 0) return [];
      const known = await reach(redis.hmget(keys.session(sessionId).messages, ...ids));
      return ids.filter((_, index) => known[index] != null);
    },
  };
}
