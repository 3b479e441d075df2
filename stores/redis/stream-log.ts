import { toStoredJson } from '../record/to-stored-json.js';
import type { LogEntry } from '../../protocol/chunk.js';
import { rootOf } from '../../protocol/ids.js';
import type { StreamStatus } from '../../protocol/run.js';
import { toCheckedJson } from '../record/checked-messages.js';
import {
  NO_RUN,
  type AppendResult,
  type LogPosition,
  type MarkResult,
  type StreamLog,
} from '../contract/log.js';
import { toControlMessage } from '../log/control-message-of.js';
import { createChannels } from './channels.js';
import { reach, toContractError, type RedisConnection } from './connection.js';
import type { RedisContext } from './context.js';
import { gatherWrites } from './gather-writes.js';
import { resolveEntries } from './large-results.js';
import { createReadLog, type ReadLog } from './read-log.js';
import { parseStored } from './stored-json.js';
import { toNumber } from './stored-record.js';
import { createTail } from './tail.js';

/** The log in a Redis Stream, its tail over sharded Pub/Sub. */
export function createRedisStreamLog(
  context: RedisContext,
  subscriber: RedisConnection,
): StreamLog {
  const { redis, keys, scripts } = context;

  const resolve = (streamId: string, entries: LogEntry[]): ReturnType<typeof resolveEntries> =>
    resolveEntries(entries, (ids) => reach(redis.hmget(keys.session(streamId).results, ...ids)));
  const readLog = createReadLog(context);
  const read: ReadLog = async (streamId, fromSequence, limit) => {
    const part = await readLog(streamId, fromSequence, limit);
    return { ...part, entries: await resolve(streamId, part.entries) };
  };
  const tail = createTail(subscriber, { channelOf: keys.channel, read, resolve });
  const stops = createChannels<() => void>(subscriber, (listeners) => {
    for (const listener of listeners) listener();
  });

  return {
    openWriter: async ({ sessionId: id, name, token, agentId, agentType, step }, nonce, now) => {
      const sessionId = rootOf(id);
      const args = [sessionId, agentId ?? id, name, token, agentType, step, now, nonce];
      const [kind, sequence] = await scripts.run('open-writer', keys.session(sessionId).all, args);
      if (kind === 'OPENED') return { kind: 'opened', sequence: Number(sequence) };
      return { kind: kind === 'ENDED' ? 'ended' : 'fenced' };
    },
    closeWriter: async ({ sessionId, name, token }) => {
      const { all } = keys.session(rootOf(sessionId));
      const [kind] = await scripts.run('close-writer', all, [name, token]);
      return { kind: kind === 'CLOSED' ? 'closed' : 'fenced' };
    },
    append: async (writer, batch, messages, known = 0) => {
      const texts = toCheckedJson(messages);
      gatherWrites(redis);
      const owner = writer.runId === NO_RUN ? rootOf(writer.sessionId) : writer.sessionId;
      const reply = await scripts.run('append', keys.append(owner), [
        writer.runId,
        writer.name,
        writer.token,
        batch,
        Date.now(),
        known,
        ...texts,
      ]);
      return toAppendResult(reply);
    },
    read: async (streamId, fromSequence, limit) =>
      (await read(streamId, fromSequence, limit)).entries,
    follow: tail.follow,
    inspect: async (streamId) => {
      const { root, stream } = keys.session(rootOf(streamId));
      const names = ['stream', 'seq', 'turnSeq', 'controls', 'error', 'streamError'];
      const replies = await reach(
        redis
          .multi()
          .hmget(root, ...names)
          .xlen(stream)
          .exec(),
      );
      const [fields, entries] = (replies ?? []).map(([error, value]) => {
        if (error) throw toContractError(error);
        return value;
      }) as [(string | null)[], number];
      return toPosition(fields, entries);
    },
    mark: async (streamId, mark, now) => {
      const conversation = rootOf(streamId);
      const [kind] = await scripts.run('mark', keys.session(conversation).all, [
        mark.status,
        toStoredJson(toControlMessage(conversation, mark, now)),
        mark.status === 'failed' ? mark.error : '',
        now,
      ]);
      return { kind: String(kind).toLowerCase() as MarkResult['kind'] };
    },
    truncate: async (streamId, step, { minSequence = 0, agentId = '' }, now) => {
      const [removed, atSequence, lastRemoved] = await scripts.run(
        'truncate',
        keys.session(rootOf(streamId)).all,
        [rootOf(streamId), step, minSequence, agentId, now],
      );
      return {
        removed: Number(removed),
        atSequence: Number(atSequence),
        lastRemoved: Number(lastRemoved),
      };
    },
    onStop: async (sessionId, listener) => stops.join(keys.session(sessionId).stop, listener),
  };
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
    ...(error !== undefined && { error }),
  };
}
