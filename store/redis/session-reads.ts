import { childPartOf, isStreamId, rootOf } from '../../protocol/ids.js';
import type { Row } from '../../protocol/rows.js';
import type { Want } from '../../session/fields.js';
import { acceptedHash } from '../../session/messages.js';
import { askersOf, runOf } from '../../session/turns.js';
import { ownerOf } from '../../session/calls.js';
import { carrierName } from '../../session/children.js';
import { sessionsBelow } from '../../session/waiting.js';
import { rowsOfMessages, type RowRange } from '../../session/transcript.js';
import type { Session } from '../../session/tree.js';
import type { Calls } from '../contract/calls.js';
import type { ReadMeter } from '../contract/log.js';
import type { Queue, QueuedEntry } from '../contract/queue.js';
import type { Sessions, WantedRows } from '../contract/sessions.js';
import type { SessionOwner } from '../contract/waiting.js';
import { wantsOfCall } from '../change.js';
import { corrupt } from '../record/corrupt.js';
import { isOwnedBy } from '../record/ownership.js';
import type { RedisContext } from './context.js';
import { parseRow } from '../record/stored-json.js';
import { stateAt, toOpenCall, toRecord } from './stored-session.js';
import { createStoredRows } from './stored-rows.js';

interface ViewOptions {
  callsOnly?: boolean;
  /** Reads the agent's own state too. */
  withState?: boolean;
  /** The only owner for whom calls and transcript are read. */
  owner?: SessionOwner | undefined;
  /** The rows to read. Default: all. */
  wanted?: WantedRows | undefined;
}

export function createSessionReads(context: RedisContext) {
  const { redis, keys, look, now } = context;
  const { readPages, withResults } = createStoredRows(context);

  async function readView(sessionId: string, options: ViewOptions = {}, meter?: ReadMeter) {
    const { callsOnly = false, withState = false } = options;
    for (;;) {
      const wants: Want[] = [APPENDED, ['calls', childPartOf(sessionId)]];
      if (!callsOnly) wants.push(['rowCount', childPartOf(sessionId)]);
      const view = (session: Session) => {
        const seen = viewOf(session, options);
        const version = withState ? seen?.record.stateVersion : undefined;
        return seen && { ...seen, state: version !== undefined && stateAt(session, version) };
      };
      const found = await look(sessionId, view, { wants, isLarge: !callsOnly });
      if (found === undefined) return undefined;
      const { record, range, queueBytes, queue, state, hasMore } = found;
      await meter?.take(queueBytes);
      const { from, to, before: messagesBefore } = range;
      const rows = await readPages(sessionId, { from, to, born: record.born }, meter);
      // The session was rewound or erased meanwhile.
      if (rows === undefined) continue;
      const openCalls = await withResults(sessionId, found.openCalls);
      const place = { firstRow: from, messagesBefore, hasMore };
      return { record, rows, ...place, openCalls, queue, ...(state && { customState: state }) };
    }
  }

  /**
   * Reads a session with its calls and those of its sub-agents. The rows are read separately, since they may be many.
   */
  function viewOf(session: Session, { callsOnly = false, owner, wanted }: ViewOptions) {
    const record = toRecord(session, now());
    if (record === undefined) return undefined;
    // The duration of a read would tell a stranger the amount of data.
    const range: RowRange = { from: 0, to: 0, before: 0 };
    const calls = { record, range, hasMore: false, queueBytes: 0, queue: [], openCalls: [] };
    if (owner !== undefined && !isOwnedBy(record, owner)) return calls;
    const openCalls = sessionsBelow(session).flatMap((found) =>
      found.calls.map((call) => toOpenCall(found.session, call)),
    );
    if (callsOnly) return { ...calls, openCalls };
    const { from, to, before } = rangeOf(session, wanted);
    const rows = { from, to: to ?? session.rows.count, before };
    return { record, range: rows, hasMore: to !== undefined, ...queueOf(session), openCalls };
  }

  async function indexOf(sessionId: string, from: number): Promise<number> {
    if (from >= 0) return from;
    return Math.max(0, from + (await redis.llen(keys.session(sessionId).rows)));
  }

  const sessions: Omit<Sessions, 'noteSnapshot' | 'branch' | 'erase'> = {
    read: (sessionId) =>
      look(sessionId, (session) => toRecord(session, now()), { wants: [APPENDED] }),
    rows: async (sessionId, from, to, meter) => {
      for (;;) {
        const range = { from: await indexOf(sessionId, from), to };
        const rows = await readPages(sessionId, range, meter);
        if (rows !== undefined) return rows;
      }
    },
    children: async (sessionId) => {
      const parts = await redis.hkeys(keys.session(sessionId).children);
      return parts.sort().map((part) => `${rootOf(sessionId)}.${part}`);
    },
    carriers: async (sessionId, toolCallIds) => {
      if (toolCallIds.length === 0) return [];
      const part = childPartOf(sessionId);
      const found = await look(sessionId, ({ tree }) =>
        toolCallIds.map((id) => tree.conversation.index.get(carrierName(part, id.toWellFormed()))),
      );
      return found
        .map((carrier) => `${rootOf(sessionId)}.${carrier ?? ''}`)
        .map((id) => (isStreamId(id) ? id : undefined));
    },
    view: (sessionId, meter, wanted) => readView(sessionId, { wanted }, meter),
    withCalls: async (sessionId, owner) => {
      const view = await readView(sessionId, { callsOnly: true, owner });
      return view && { record: view.record, openCalls: view.openCalls };
    },
    acceptedMessages: async (sessionId, ids) => {
      if (ids.length === 0) return [];
      const wanted = ids.map((id) => id.toWellFormed());
      return look(sessionId, (session) =>
        wanted.filter((id) => acceptedHash(session, id) !== undefined),
      );
    },
    askers: (sessionId, messageIds) =>
      look(sessionId, (session) => messageIds.map((id) => askersOf(session, id.toWellFormed()))),
    runOf: (sessionId, messageId) =>
      look(sessionId, (session) => runOf(session, messageId.toWellFormed())),
  };

  const readCall: Calls['read'] = async (sessionId, id) => {
    const toolCallId = id.toWellFormed();
    const part = childPartOf(sessionId);
    // What a change of the call reads too, since an answer usually follows.
    const found = await look(
      sessionId,
      (session) => {
        const owner = ownerOf(session, toolCallId);
        const call = owner.calls.get(toolCallId);
        return call && toOpenCall(owner, call);
      },
      {
        wants: [...wantsOfCall(part, toolCallId, CONTENTS), ['rowCount', part], ['calls', part]],
        keeps: true,
      },
    );
    if (found === undefined) return undefined;
    // Nobody can answer a call whose content is gone, so lists leave it out and the conversation continues.
    if (!('runId' in found.spec)) throw corrupt(`call ${id}`);
    return (await withResults(sessionId, [found]))[0];
  };

  const readQueue: Queue['read'] = async (sessionId, meter) => {
    const { queueBytes, queue } = await look(sessionId, queueOf, { isLarge: true });
    await meter?.take(queueBytes);
    return queue;
  };

  return { sessions, calls: { read: readCall }, queue: { read: readQueue }, readView };
}

/** Contents that readers of a call need. */
const CONTENTS = ['spec', 'row', 'decision', 'edit'];

const APPENDED: Want = ['field', 'record', '', 'appended'];

function rangeOf(session: Session, wanted: WantedRows | undefined): RowRange {
  const all = { from: 0, before: 0 };
  if (wanted === 'turn') return { ...all, from: session.existing.turn.row };
  return (wanted && rowsOfMessages(session, wanted)) ?? all;
}

function queueOf({ record, content }: Session): { queue: QueuedEntry[]; queueBytes: number } {
  let queueBytes = 0;
  const rowOf = (id: string): Row => {
    const text = content.get(`q:${id}`) ?? '{}';
    queueBytes += text.length;
    return parseRow(text, `queued message ${id}`);
  };
  const queue = (record?.queue ?? []).map(({ messages, by, withdraws: _run, ...entry }) => ({
    id: messages[0]?.id ?? '',
    ...entry,
    ...(by !== undefined && { by }),
    messages: messages.map((message) => ({ ...message, row: rowOf(message.id) })),
  }));
  return { queue, queueBytes };
}
