import { childPartOf, isStreamId, rootOf } from '../../protocol/ids.js';
import type { Row } from '../../protocol/rows.js';
import { acceptedHash } from '../../session/messages.js';
import { runOf } from '../../session/turns.js';
import { ownerOf } from '../../session/calls.js';
import { carrierName } from '../../session/children.js';
import type { Calls } from '../contract/calls.js';
import type { Queue, QueuedEntry } from '../contract/queue.js';
import type { Sessions, SessionView } from '../contract/sessions.js';
import type { SessionOwner } from '../contract/waiting.js';
import type { RedisContext } from './context.js';
import { callRedis } from './errors.js';
import { callTexts, sessionTexts, viewTexts, type ViewTexts } from './session-texts.js';
import { parseRow } from './stored-json.js';
import { toOpenCall, toRecord } from './stored-record.js';
import { createStoredRows } from './stored-rows.js';

interface Reads {
  readRecord: Sessions['read'];
  readRows: Sessions['rows'];
  readChildren: Sessions['children'];
  readCarriers: Sessions['carriers'];
  readQueue: Queue['read'];
  readCall: Calls['read'];
  readView: Sessions['view'];
  readCalls: Sessions['withCalls'];
  acceptedMessages: Sessions['acceptedMessages'];
  runOf: Sessions['runOf'];
}

/** Reads of a session, each made at one moment. */
export function createSessionReads({ redis, keys, change, now }: RedisContext): Reads {
  const { toRows, withResults } = createStoredRows({ redis, keys });

  async function read(sessionId: string, callsOnly: boolean, owner?: SessionOwner): Promise<SessionView | undefined> {
    const texts = await change(sessionId, (session) => viewTexts(session, { callsOnly, owner }));
    if (texts === undefined) return undefined;
    return {
      record: toRecord(texts, now()),
      rows: await toRows(sessionId, texts.rows),
      openCalls: await withResults(sessionId, texts.calls.map(toOpenCall)),
      queue: toQueue(texts),
    };
  }

  return {
    readRecord: async (sessionId) => {
      const texts = await change(sessionId, sessionTexts);
      return texts && toRecord(texts, now());
    },
    readRows: async (sessionId, from, to) => {
      if (to !== undefined && to <= from) return [];
      const end = to === undefined ? -1 : to - 1;
      return toRows(sessionId, await callRedis(redis.lrange(keys.session(sessionId).rows, from, end)));
    },
    readChildren: async (sessionId) => {
      const parts = await callRedis(redis.hkeys(keys.session(sessionId).children));
      return parts.sort().map((part) => `${rootOf(sessionId)}.${part}`);
    },
    readCarriers: async (sessionId, toolCallIds) => {
      if (toolCallIds.length === 0) return [];
      const part = childPartOf(sessionId);
      const found = await change(sessionId, ({ tree }) =>
        toolCallIds.map((id) => tree.conversation.index.get(carrierName(part, id.toWellFormed()))),
      );
      return found
        .map((carrier) => `${rootOf(sessionId)}.${carrier ?? ''}`)
        .map((id) => (isStreamId(id) ? id : undefined));
    },
    readQueue: async (sessionId) => {
      const texts = await change(sessionId, (session) => viewTexts(session, { callsOnly: false }));
      return texts === undefined ? [] : toQueue(texts);
    },
    readCall: async (sessionId, id) => {
      const toolCallId = id.toWellFormed();
      const texts = await change(sessionId, (session) => {
        const owner = ownerOf(session, toolCallId);
        const call = owner.calls.get(toolCallId);
        return call && callTexts(owner, call);
      });
      if (texts === undefined) return undefined;
      const [call] = await withResults(sessionId, [toOpenCall(texts)]);
      return call;
    },
    readView: (sessionId) => read(sessionId, false),
    readCalls: async (sessionId, owner) => {
      const view = await read(sessionId, true, owner);
      return view && { record: view.record, openCalls: view.openCalls };
    },
    acceptedMessages: async (sessionId, ids) => {
      if (ids.length === 0) return [];
      const wanted = ids.map((id) => id.toWellFormed());
      return change(sessionId, (session) => wanted.filter((id) => acceptedHash(session, id) !== undefined));
    },
    runOf: (sessionId, messageId) => change(sessionId, (session) => runOf(session, messageId.toWellFormed())),
  };
}

function toQueue({ queue }: ViewTexts): QueuedEntry[] {
  return queue.map(({ entry, rows }) => ({
    id: entry.messages[0]?.id ?? '',
    mode: entry.mode,
    queuedAt: entry.queuedAt,
    ...(entry.by !== undefined && { by: entry.by }),
    messages: entry.messages.map((message, at): { id: string; hash: string; hidden: boolean; row: Row } => ({
      ...message,
      row: parseRow(rows[at] ?? '', `queued message ${message.id}`),
    })),
  }));
}

