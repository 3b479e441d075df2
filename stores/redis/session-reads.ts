import type { Row } from '../../protocol/rows.js';
import { childPartOf, rootOf } from '../../protocol/ids.js';
import type { OpenCall, SessionStore, SessionView } from '../session-store.js';
import type { RedisContext } from './context.js';
import { reach, toContractError } from './connection.js';
import { resolveRows, type ReadResults } from './large-results.js';
import { parseStored } from './stored-json.js';
import { toOpenCall, toQueuedEntry, toRecord } from './stored-record.js';

type Reads = Pick<
  SessionStore,
  | 'readRecord'
  | 'readRows'
  | 'readView'
  | 'readQueue'
  | 'readCall'
  | 'acceptedMessages'
  | 'readSubAgentCallIds'
>;

/** Reads of a session; each is of one moment. */
export function createSessionReads({ redis, keys, scripts }: RedisContext): Reads {
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

  /** Sequence and status of the stream are the conversation's. */
  async function readRoot(sessionId: string): Promise<Record<string, string>> {
    const own = keys.session(sessionId).root;
    const conversation = keys.session(rootOf(sessionId)).root;
    if (own === conversation) return reach(redis.hgetall(own));
    const replies = await reach(
      redis.multi().hgetall(own).hmget(conversation, 'seq', 'stream', 'committed').exec(),
    );
    const [root, shared] = unpack(replies) as [Record<string, string>, (string | null)[]];
    return withShared(root, shared);
  }

  async function readTree(sessionId: string): Promise<SessionView | undefined> {
    const reply = await scripts.run('read-view', keys.session(sessionId).all, []);
    const [flat, rows, queue, ...sessions] = reply as unknown as [
      string[],
      string[],
      string[],
      ...CallTable[],
    ];
    const record = toRecord(sessionId, toFields(flat));
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

  async function readOwnCall(sessionId: string, toolCallId: string): Promise<OpenCall | undefined> {
    const names = ['spec', 'state', 'row', 'decision', 'asked', 'deadline', 'ask'].map(
      (name) => `${name}:${toolCallId}`,
    );
    const values = await reach(redis.hmget(keys.session(sessionId).calls, ...names));
    const found = names.flatMap((name, at) => (values[at] == null ? [] : [[name, values[at]]]));
    if (found.length === 0) return undefined;
    const call = toOpenCall(toolCallId, Object.fromEntries(found) as Record<string, string>);
    return (await withResults(sessionId, [call]))[0];
  }

  return {
    readSubAgentCallIds: (sessionId) => reach(redis.hkeys(keys.session(sessionId).owners)),
    readRecord: async (sessionId) => toRecord(sessionId, await readRoot(sessionId)),
    readRows: async (sessionId, from, to) => {
      if (to !== undefined && to <= from) return [];
      const end = to === undefined ? -1 : to - 1;
      return toRows(sessionId, await reach(redis.lrange(keys.session(sessionId).rows, from, end)));
    },
    readView: async (sessionId) => {
      if (childPartOf(sessionId) !== '') return readTree(sessionId);
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
      const record = toRecord(sessionId, root);
      if (record === undefined) return undefined;
      if (order.some((id) => calls[`child:${id}`] !== undefined)) return readTree(sessionId);
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
    readQueue: async (sessionId) =>
      (await reach(redis.lrange(keys.session(sessionId).queue, 0, -1))).map(toQueuedEntry),
    readCall: async (sessionId, toolCallId) => {
      const call = await readOwnCall(sessionId, toolCallId);
      if (call !== undefined) return call;
      // A sub-agent's: its owner never changes.
      const owner = await reach(redis.hget(keys.session(sessionId).owners, toolCallId));
      const [part] = owner?.split(' ') ?? [];
      return part === undefined
        ? undefined
        : readOwnCall(`${rootOf(sessionId)}.${part}`, toolCallId);
    },
    acceptedMessages: async (sessionId, ids) => {
      if (ids.length === 0) return [];
      const known = await reach(redis.hmget(keys.session(sessionId).messages, ...ids));
      return ids.filter((_, index) => known[index] != null);
    },
  };
}

/** Ids of calls in their order, and the fields of a session's calls. */
type CallTable = [string[], string[]];

function unpack(replies: [error: Error | null, result: unknown][] | null): unknown[] {
  return (replies ?? []).map(([error, value]) => {
    if (error) throw toContractError(error);
    return value;
  });
}

function toFields(flat: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let at = 0; at < flat.length; at += 2) fields[flat[at] ?? ''] = flat[at + 1] ?? '';
  return fields;
}

function withShared(
  root: Record<string, string>,
  [seq, stream, step]: (string | null)[],
): Record<string, string> {
  return {
    ...root,
    ...(seq != null && { seq }),
    ...(stream != null && { stream }),
    conversationStep: step ?? '0',
  };
}
