import { childPartOf, isStreamId, rootOf } from '../../protocol/ids.js';
import type { Row } from '../../protocol/rows.js';
import type { Want } from '../../session/fields.js';
import { acceptedHash } from '../../session/messages.js';
import { askersOf, runOf } from '../../session/turns.js';
import { ownerOf } from '../../session/calls.js';
import { carrierName } from '../../session/children.js';
import type { Calls } from '../contract/calls.js';
import type { ReadMeter } from '../contract/log.js';
import type { Queue, QueuedEntry } from '../contract/queue.js';
import type { Sessions, SessionView } from '../contract/sessions.js';
import type { SessionOwner } from '../contract/waiting.js';
import type { RedisContext } from './context.js';
import { callRedis } from './errors.js';
import { callTexts, sessionTexts, viewTexts, type ViewTexts } from './session-texts.js';
import { parseRow } from './stored-json.js';
import { toOpenCall, toRecord } from './stored-record.js';
import { createStoredRows, sizeOf } from './stored-rows.js';

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
  askers: Sessions['askers'];
}

/** Reads of a session, each made at one moment. */
export function createSessionReads({ redis, reads, keys, look, now }: RedisContext): Reads {
  const { readPages, withResults } = createStoredRows({ reads, keys });

  async function read(
    sessionId: string,
    { callsOnly, owner }: { callsOnly: boolean; owner?: SessionOwner | undefined },
    meter?: ReadMeter,
  ): Promise<SessionView | undefined> {
    for (;;) {
      const wants: Want[] = [APPENDED, ['calls', childPartOf(sessionId)]];
      if (!callsOnly) wants.push(['rowCount', childPartOf(sessionId)]);
      const texts = await look(sessionId, (session) => viewTexts(session, { callsOnly, owner }), {
        ...{ wants, isLarge: !callsOnly },
      });
      if (texts === undefined) return undefined;
      const record = toRecord(texts, now());
      await meter?.take(sizeOf(texts.queue.flatMap((entry) => entry.rows)));
      const range = { from: 0, to: texts.rowCount, born: record.born };
      const rows = await readPages(sessionId, range, meter);
      // It was rewound or erased meanwhile.
      if (rows === undefined) continue;
      const openCalls = await withResults(sessionId, texts.calls.map(toOpenCall));
      return { record, rows, openCalls, queue: toQueue(texts) };
    }
  }

  /** A negative number counts from the end. */
  async function indexOf(sessionId: string, from: number): Promise<number> {
    if (from >= 0) return from;
    return Math.max(0, from + (await callRedis(redis.llen(keys.session(sessionId).rows))));
  }

  return {
    readRecord: async (sessionId) => {
      const texts = await look(sessionId, sessionTexts, { wants: [APPENDED] });
      return texts && toRecord(texts, now());
    },
    readRows: async (sessionId, from, to, meter) => {
      for (;;) {
        const range = { from: await indexOf(sessionId, from), to };
        const rows = await readPages(sessionId, range, meter);
        if (rows !== undefined) return rows;
      }
    },
    readChildren: async (sessionId) => {
      const parts = await callRedis(redis.hkeys(keys.session(sessionId).children));
      return parts.sort().map((part) => `${rootOf(sessionId)}.${part}`);
    },
    readCarriers: async (sessionId, toolCallIds) => {
      if (toolCallIds.length === 0) return [];
      const part = childPartOf(sessionId);
      const found = await look(sessionId, ({ tree }) =>
        toolCallIds.map((id) => tree.conversation.index.get(carrierName(part, id.toWellFormed()))),
      );
      return found
        .map((carrier) => `${rootOf(sessionId)}.${carrier ?? ''}`)
        .map((id) => (isStreamId(id) ? id : undefined));
    },
    readQueue: async (sessionId, meter) => {
      const texts = await look(sessionId, (session) => viewTexts(session, { callsOnly: false }), {
        isLarge: true,
      });
      if (texts === undefined) return [];
      await meter?.take(sizeOf(texts.queue.flatMap((entry) => entry.rows)));
      return toQueue(texts);
    },
    readCall: async (sessionId, id) => {
      const toolCallId = id.toWellFormed();
      const texts = await look(
        sessionId,
        (session) => {
          const owner = ownerOf(session, toolCallId);
          const call = owner.calls.get(toolCallId);
          return call && callTexts(owner, call);
        },
        { wants: wantsOfCall(childPartOf(sessionId), toolCallId) },
      );
      if (texts === undefined) return undefined;
      const [call] = await withResults(sessionId, [toOpenCall(texts)]);
      return call;
    },
    readView: (sessionId, meter) => read(sessionId, { callsOnly: false }, meter),
    readCalls: async (sessionId, owner) => {
      const view = await read(sessionId, { callsOnly: true, owner });
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
}

const APPENDED: Want = ['field', 'record', '', 'appended'];

function wantsOfCall(part: string, id: string): Want[] {
  return [
    ['field', 'record', part, `call:${id}`],
    ['field', 'index', part, `s:${id}`],
    ['field', 'index', '', `o:${id}`],
    ...['spec', 'row', 'decision', 'edit'].map((what): Want => [
      'field',
      'content',
      part,
      `${what}:${id}`,
    ]),
  ];
}

function toQueue({ queue }: ViewTexts): QueuedEntry[] {
  return queue.map(({ entry, rows }) => ({
    id: entry.messages[0]?.id ?? '',
    mode: entry.mode,
    queuedAt: entry.queuedAt,
    ...(entry.by !== undefined && { by: entry.by }),
    askers: entry.askers,
    messages: entry.messages.map(
      (message, at): { id: string; hash: string; hidden: boolean; row: Row } => ({
        ...message,
        row: parseRow(rows[at] ?? '', `queued message ${message.id}`),
      }),
    ),
  }));
}
