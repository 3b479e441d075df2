import type { LogEntry, StreamMessage } from '../../protocol/chunk.js';
import { rootOf } from '../../protocol/ids.js';
import type { StreamStatus } from '../../protocol/run.js';
import { toCheckedJson } from '../record/checked-messages.js';
import { onData } from '../contract/shared-data.js';
import { NO_RUN, type AppendResult, type LogPosition, type StreamLog } from '../contract/log.js';
import { toControlMessage } from '../log/control-message-of.js';
import { createChannels, type Subscriber } from './tail/channels.js';
import { callRedis } from './errors.js';
import type { RedisContext } from './context.js';
import { resolveEntries } from './large-results.js';
import { createKeepPages } from './tail/keep-pages.js';
import { createReadKept } from './tail/kept-pages.js';
import { createReadJoined, createReadLog, type ReadLog } from './tail/pages.js';
import { toShortDelta } from './short-deltas.js';
import { parseStored } from './stored-json.js';
import { createReadResults } from './stored-rows.js';
import { toNumber } from './stored-record.js';
import { createTail } from './tail/tail.js';
import type { TruncatedPage } from './transition-results.js';

/** The log in a Redis Stream, with a tail over sharded Pub/Sub. */
export function createRedisStreamLog(context: RedisContext, subscriber: Subscriber): StreamLog {
  const { redis, keys, transitions, now: clock } = context;

  const readResults = createReadResults(context);
  const resolve = (streamId: string, entries: LogEntry[]): ReturnType<typeof resolveEntries> =>
    resolveEntries(entries, readResults(streamId));
  const readLog = createReadLog(context);
  const readJoined = createReadJoined(context);
  const readKept = createReadKept(context);
  const keepPages = createKeepPages(transitions);
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
      return transitions.run('openWriter', sessionId, { writer, nonce, now });
    },
    closeWriter: async ({ sessionId, name, token }) => {
      const request = { name, token };
      return transitions.run('closeWriter', rootOf(sessionId), request);
    },
    append: async (writer, batch, messages, known = 0) => {
      const conversation = rootOf(writer.sessionId);
      const texts = toCheckedJson(messages, (message) => toShortDelta(message, conversation));
      context.corkWrites();
      const owner = writer.runId === NO_RUN ? conversation : writer.sessionId;
      const reply = await transitions.append(owner, [
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
      const { root, stream } = keys.session(rootOf(streamId));
      const names = ['stream', 'seq', 'turnSeq', 'controls', 'error', 'streamError'];
      const [fields, entries] = (await callRedis(
        redis.together((reads) => reads.hmget(root, ...names).xlen(stream)),
      )) as [(string | null)[], number];
      return toPosition(fields, entries);
    },
    mark: async (streamId, mark, now) => {
      const conversation = rootOf(streamId);
      return transitions.run('mark', conversation, (contents) => ({
        status: mark.status,
        message: contents.addJson(toControlMessage(conversation, mark, now)),
        error: mark.status === 'failed' ? mark.error : undefined,
        now,
      }));
    },
    truncate: async (streamId, step, { minSequence = 0, agentId }, now) => {
      let page: TruncatedPage = { removed: 0, lastRemoved: 0, atSequence: 0, next: minSequence };
      while (page.next !== undefined) {
        const { removed, lastRemoved, next: after } = page;
        const request = { step, after, agentId, now, removed, lastRemoved };
        page = await transitions.run('truncate', rootOf(streamId), request);
      }
      const { removed, atSequence, lastRemoved } = page;
      return { removed, atSequence, lastRemoved };
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

function toPosition(fields: (string | null)[], entries: number): LogPosition | undefined {
  const [status, sequence, turnStart, controls, runError, streamError] = fields;
  if (status == null) return undefined;
  const error =
    runError == null
      ? (streamError ?? undefined)
      : (parseStored(runError, 'error') as { message: string }).message;
  return {
    status: status as StreamStatus,
    sequence: toNumber('seq', sequence ?? '0'),
    chunks: Math.max(0, entries - toNumber('controls', controls ?? '0')),
    turnStartSequence: toNumber('turnSeq', turnStart ?? '0'),
    error,
  };
}
