import type { LogEntry, StreamMessage } from '../../protocol/chunk.js';
import { rootOf } from '../../protocol/ids.js';
import type { Session } from '../../session/tree.js';
import { toShortDelta } from './entries.js';
import { mergeDeltas } from '../../protocol/combine-streams.js';
import { toCheckedText, toStoredJson } from '../record/stored-json.js';
import { onData } from '../contract/shared-data.js';
import {
  NO_RUN,
  type AppendResult,
  type LogPosition,
  type StreamLog,
  type Writer,
} from '../contract/log.js';
import { closeWriter, mark as changeMark, openWriter, truncate } from '../../session/streams.js';
import { createChannels, type Subscriber } from './tail/channels.js';
import type { RedisContext } from './context.js';
import { newerLayout } from '../change.js';
import { createKeptPages, PAGE_END } from './tail/kept-pages.js';
import { createReadLog, createReadRange, type ReadLog } from './tail/pages.js';
import { createReadResults, resolveEntries } from './stored-rows.js';
import { createTail } from './tail/tail.js';

export function createRedisStreamLog(context: RedisContext, subscriber: Subscriber): StreamLog {
  const { keys, look, change, now: clock } = context;

  const readResults = createReadResults(context);
  const resolve = (streamId: string, entries: LogEntry[]): ReturnType<typeof resolveEntries> =>
    resolveEntries(entries, readResults(streamId));
  const readLog = createReadLog(context);
  const readRange = createReadRange(context);
  const kept = createKeptPages(context);
  const read: ReadLog = async (streamId, fromSequence, limit) => {
    const part = await readLog(streamId, fromSequence, limit);
    return { ...part, entries: await resolve(streamId, part.entries) };
  };
  const tail = createTail(subscriber, {
    channelOf: (streamId) => keys.session(streamId).channel,
    read,
    resolve,
  });
  const stops = createChannels<(runId: string) => void>(subscriber, (listeners, runId) => {
    for (const listener of listeners) listener(runId);
  });

  const targets = new WeakMap<Writer, Target>();

  function targetOf(writer: Writer): Target {
    const known = targets.get(writer);
    if (known !== undefined) return known;
    const { sessionId, runId, name, token } = writer;
    const conversation = rootOf(sessionId);
    const target = {
      conversation,
      appendKeys: keys.append(runId === NO_RUN ? conversation : sessionId),
      names: [runId, name, String(token)].map((word) => word.toWellFormed()),
    };
    targets.set(writer, target);
    return target;
  }

  function keepPage(writer: Writer, appended: number, sequence: number): void {
    const end = sequence - (sequence % PAGE_END);
    if (sequence - appended >= end || writer.runId === NO_RUN) return;
    kept.keep(writer, end).catch(() => undefined);
  }

  const log: StreamLog = {
    openWriter: ({ sessionId: id, name, token, agentId = id, agentType, step }, nonce, now) => {
      const writer = { name, token, agentId, agentType, step };
      return change(rootOf(id), openWriter, { writer, nonce, now });
    },
    closeWriter: ({ sessionId, name, token }) =>
      change(rootOf(sessionId), closeWriter, { name, token }),
    append: async (writer, batch, messages, known = 0) => {
      const { conversation, appendKeys, names } = targetOf(writer);
      const texts = messages.map(
        (message) => toShortDelta(message, conversation) ?? toCheckedText(message),
      );
      const notes = writer.name.startsWith('t:') ? toNotes(messages) : '';
      const counts = [String(batch), String(clock()), String(known)];
      const reply = await context.append(appendKeys, [...names, ...counts, notes, ...texts]);
      const result = toAppendResult(reply);
      if (result.kind === 'appended') keepPage(writer, texts.length, result.sequence);
      return result;
    },
    read: async (streamId, fromSequence, limit, joinUpTo) => {
      const entries = await readRange(streamId, fromSequence, limit, joinUpTo);
      return resolve(streamId, joinUpTo === undefined ? entries : mergeDeltas(entries));
    },
    keptPages: async (streamId, fromSequence) => {
      const pages = await kept.read(streamId, fromSequence);
      for (const page of pages) page.entries = await resolve(streamId, page.entries);
      return pages;
    },
    follow: tail.follow,
    inspect: (streamId) => look(rootOf(streamId), toPosition),
    mark: async (streamId, mark, now) => {
      const output = mark.status === 'ended' ? mark.finalOutput : undefined;
      return change(rootOf(streamId), changeMark, {
        status: mark.status,
        error: mark.status === 'failed' ? mark.error : undefined,
        finalOutput: output === undefined ? undefined : toStoredJson(output),
        now,
      });
    },
    truncate: (streamId, step, { minSequence: after = 0, agentId }, now) =>
      change(rootOf(streamId), truncate, { step, after, agentId, now }),
    onStop: async (sessionId, listener) => stops.join(keys.session(sessionId).stop, listener),
  };
  return onData(log, context.data);
}

/** A writer's constant arguments of appends. */
interface Target {
  conversation: string;
  appendKeys: string[];
  /** First arguments of the script. */
  names: string[];
}

/** Lists the messages that a call's row keeps: the letter of the kind, and the index. */
function toNotes(messages: readonly StreamMessage[]): string {
  return messages
    .flatMap((message, at) => {
      if (message.type === 'custom') return message.transient === true ? [] : `c${String(at)}`;
      return message.type === 'state_patch' ? `p${String(at)}` : [];
    })
    .join(' ');
}

/** The refusals of APPEND, by code. */
const REFUSALS = { 2: 'fenced', 3: 'superseded', 4: 'closed', 5: 'rewound' } as const;

/** Converts the reply of APPEND. @throws HelixError `unavailable` for a record of a newer layout */
function toAppendResult([code = 5, sequence = 0, stop]: number[]): AppendResult {
  if (code === 1) return { kind: 'appended', sequence, stopRequested: stop === 1 };
  if (code === 6) throw newerLayout();
  return { kind: REFUSALS[code as keyof typeof REFUSALS] };
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
