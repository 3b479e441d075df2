import { childPartOf } from '../../protocol/ids.js';
import type { SessionCalls, Sessions, SessionView } from '../contract/sessions.js';
import type { RedisContext } from './context.js';
import { reach, unpack } from './connection.js';
import { toOpenCall, toQueuedEntry, toRecord } from './stored-record.js';
import { createStoredRows } from './stored-rows.js';

interface Views {
  readView: Sessions['view'];
  readCalls: Sessions['withCalls'];
}

/** Reads of a session together with its calls and those of its sub-agents; each is of one moment. */
export function createSessionViews({ redis, keys, transitions, now }: RedisContext): Views {
  const { toRows, withOutput, withResults } = createStoredRows({ redis, keys });

  /** @param part `all`, or `calls` for a view without rows and queue */
  async function readTree(
    sessionId: string,
    part: 'all' | 'calls',
  ): Promise<SessionView | undefined> {
    const reply = await transitions.run('readView', sessionId, { callsOnly: part === 'calls' });
    const [flat, rows, queue, ...sessions] = reply as [
      string[],
      string[],
      string[],
      ...CallTable[],
    ];
    const record = toRecord(sessionId, await withOutput(sessionId, toFields(flat)), now());
    if (record === undefined) return undefined;
    const openCalls = sessions.flatMap(([order, fields]) => {
      const calls = toFields(fields);
      return order.map((id) => toOpenCall(id, calls));
    });
    return {
      record,
      rows: await toRows(sessionId, rows),
      openCalls: await withResults(sessionId, openCalls),
      queue: queue.map(toQueuedEntry),
    };
  }

  return {
    readCalls: async (sessionId) => {
      if (childPartOf(sessionId) !== '') return toCalls(await readTree(sessionId, 'calls'));
      const at = keys.session(sessionId);
      const replies = await reach(
        redis.multi().hgetall(at.root).lrange(at.order, 0, -1).hgetall(at.calls).exec(),
      );
      const [root, order, calls] = unpack(replies) as [
        Record<string, string>,
        string[],
        Record<string, string>,
      ];
      const record = toRecord(sessionId, await withOutput(sessionId, root), now());
      if (record === undefined) return undefined;
      if (order.some((id) => calls[`child:${id}`] !== undefined)) {
        return toCalls(await readTree(sessionId, 'calls'));
      }
      const openCalls = order.map((id) => toOpenCall(id, calls));
      return { record, openCalls: await withResults(sessionId, openCalls) };
    },
    readView: async (sessionId) => {
      if (childPartOf(sessionId) !== '') return readTree(sessionId, 'all');
      const at = keys.session(sessionId);
      const replies = await reach(
        redis
          .multi()
          .hgetall(at.root)
          .lrange(at.rows, 0, -1)
          .lrange(at.order, 0, -1)
          .hgetall(at.calls)
          .lrange(at.queue, 0, -1)
          .exec(),
      );
      const [root, rows, order, calls, queue] = unpack(replies) as [
        Record<string, string>,
        string[],
        string[],
        Record<string, string>,
        string[],
      ];
      const record = toRecord(sessionId, await withOutput(sessionId, root), now());
      if (record === undefined) return undefined;
      if (order.some((id) => calls[`child:${id}`] !== undefined)) return readTree(sessionId, 'all');
      return {
        record,
        rows: await toRows(sessionId, rows),
        openCalls: await withResults(
          sessionId,
          order.map((id) => toOpenCall(id, calls)),
        ),
        queue: queue.map(toQueuedEntry),
      };
    },
  };
}

/** Ids of calls in their order, and the fields of a session's calls. */
type CallTable = [string[], string[]];

function toCalls(view: SessionView | undefined): SessionCalls | undefined {
  return view && { record: view.record, openCalls: view.openCalls };
}

function toFields(flat: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let at = 0; at < flat.length; at += 2) fields[flat[at] ?? ''] = flat[at + 1] ?? '';
  return fields;
}
