import type { LogEntry, StreamMessage } from '../../protocol/chunk.js';
import { rootOf } from '../../protocol/ids.js';
import type { Session } from '../../session/tree.js';
import { toCheckedJson } from '../record/checked-messages.js';
import { onData } from '../contract/shared-data.js';
import { NO_RUN, type AppendResult, type LogPosition, type StreamLog } from '../contract/log.js';
import { closeWriter, mark as changeMark, openWriter, truncate } from '../../session/streams.js';
import { toStoredJson } from '../record/to-stored-json.js';
import { toControlMessage } from '../log/control-message-of.js';
import { createChannels, type Subscriber } from './tail/channels.js';
import type { RedisContext } from './context.js';
import { resolveEntries } from './large-results.js';
import { createKeepPages } from './tail/keep-pages.js';
import { createReadKept } from './tail/kept-pages.js';
import { createReadJoined, createReadLog, type ReadLog } from './tail/pages.js';
import { toShortDelta } from './short-deltas.js';
import { createReadResults } from './stored-rows.js';
import { createTail } from './tail/tail.js';

/** The log in a Redis Stream, with a tail over sharded Pub/Sub. */
export function createRedisStreamLog(context: RedisContext, subscriber: Subscriber): StreamLog {
  const { keys, append, look, make, now: clock } = context;

  const readResults = createReadResults(context);
  const resolve = (streamId: string, entries: LogEntry[]): ReturnType<typeof resolveEntries> =>
    resolveEntries(entries, readResults(streamId));
  const readLog = createReadLog(context);
  const readJoined = createReadJoined(context);
  const readKept = createReadKept(context);
  const keepPages = createKeepPages(make);
  const read: ReadLog = async (streamId, fromSequence, limit) => {
    const part = await readLog(streamId, fromSequence, limit);
    return { ...part, entries: await resolve(streamId, part.entries) };
  };
  const tail = createTail(subscriber, { channelOf: keys.channel, read, resolve });
  const stops = createChannels<(runId: string) => void>(subscriber, (listeners, runId) => {
    for (const listener of listeners) listener(runId);
  });

  const log: StreamLog = {
    openWriter: async ({ sessionId: id, name, token, agentId, agentType, step }, nonce, now) => {
      const sessionId = rootOf(id);
      const writer = { sessionId, name, token, agentId: agentId ?? id, agentType, step };
      return make(sessionId, openWriter, { writer, nonce, now });
    },
    closeWriter: async ({ sessionId, name, token }) => {
      const request = { name, token };
      return make(rootOf(sessionId), closeWriter, request);
    },
    append: async (writer, batch, messages, known = 0) => {
      const conversation = rootOf(writer.sessionId);
      const texts = toCheckedJson(messages, (message) => toShortDelta(message, conversation));
      context.corkWrites();
      const owner = writer.runId === NO_RUN ? conversation : writer.sessionId;
      const reply = await append(owner, [
        writer.runId,
        writer.name,
        writer.token,
        batch,
        clock(),
        known,
        writer.name.startsWith('t:') ? toNotes(messages) : '',
        ...texts,
      ]);
      const result = toAppendResult(reply);
      if (result.kind === 'appended') keepPages(writer, texts, result.sequence);
      return result;
    },
    read: async (streamId, fromSequence, limit, joinUpTo) =>
      joinUpTo === undefined
        ? (await read(streamId, fromSequence, limit)).entries
        : resolve(streamId, await readJoined(streamId, fromSequence, joinUpTo, limit)),
    keptPages: async (streamId, fromSequence) => {
      const pages = await readKept(streamId, fromSequence);
      for (const page of pages) page.entries = await resolve(streamId, page.entries);
      return pages;
    },
    follow: tail.follow,
    inspect: async (streamId) => {
      return look(rootOf(streamId), toPosition);
    },
    mark: async (streamId, mark, now) => {
      const conversation = rootOf(streamId);
      return make(conversation, changeMark, {
        status: mark.status,
        message: toStoredJson(toControlMessage(conversation, mark, now)),
        error: mark.status === 'failed' ? mark.error : undefined,
        now,
      });
    },
    truncate: async (streamId, step, { minSequence = 0, agentId }, now) => {
      return make(rootOf(streamId), truncate, { step, after: minSequence, agentId, now });
    },
    onStop: async (sessionId, listener) => stops.join(keys.session(sessionId).stop, listener),
  };
  return onData(log, context.data);
}

/** Which of these messages a call's row keeps: the letter of its kind, and its index. */
function toNotes(messages: readonly StreamMessage[]): string {
  return messages
    .flatMap((message, at) => {
      if (message.type === 'custom') return message.transient === true ? [] : `c${String(at)}`;
      return message.type === 'state_patch' ? `p${String(at)}` : [];
    })
    .join(' ');
}

function toAppendResult([code, sequence, stop]: (string | number)[]): AppendResult {
  switch (code) {
    case 1:
      return { kind: 'appended', sequence: Number(sequence), stopRequested: stop === 1 };
    case 2:
      return { kind: 'fenced' };
    case 3:
      return { kind: 'superseded' };
    case 4:
      return { kind: 'closed' };
    default:
      return { kind: 'rewound' };
  }
}

function toPosition(session: Session): LogPosition | undefined {
  const { record, tree } = session;
  if (record?.stream === undefined) return undefined;
  const { run, turn, sizes } = record;
  return {
    status: record.stream,
    sequence: tree.log.sequence,
    chunks: Math.max(0, tree.log.count - sizes.controls),
    turnStartSequence: turn.sequence,
    error: run.error?.message ?? record.streamError,
  };
}
