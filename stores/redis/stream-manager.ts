import type { Redis } from 'ioredis';
import type { LogEntry, StreamMessage } from '../../protocol/chunk.js';
import type { AppendResult, StreamManager } from '../stream-manager.js';
import { createChannels } from './channels.js';
import { reach } from './connection.js';
import { gatherWrites } from './gather-writes.js';
import { appendKeys, sessionKeys } from './keys.js';
import { runScript } from './scripts.js';
import { createTail } from './tail.js';

/** The log in a Redis Stream, its tail over sharded Pub/Sub. */
export function createRedisStreamManager(redis: Redis, subscriber: Redis): StreamManager {
  const read = async (
    sessionId: string,
    fromSequence: number,
    limit: number,
  ): Promise<LogEntry[]> => {
    const { stream } = sessionKeys(sessionId);
    const entries = await reach(
      redis.xrange(stream, `(${String(fromSequence)}-0`, '+', 'COUNT', limit),
    );
    return entries.map(toLogEntry);
  };
  const tail = createTail(subscriber, read);
  const stops = createChannels<() => void>(subscriber, (listeners) => {
    for (const listener of listeners) listener();
  });

  return {
    append: async (writer, batch, chunks) => {
      gatherWrites(redis);
      const reply = await reach(
        runScript(redis, 'append', appendKeys(writer.sessionId), [
          writer.runId,
          writer.name,
          writer.token,
          batch,
          Date.now(),
          ...chunks.map((chunk) => JSON.stringify(chunk)),
        ]),
      );
      return toAppendResult(reply);
    },
    read,
    follow: tail.follow,
    onStop: (sessionId, listener) => stops.join(sessionKeys(sessionId).stop, listener),
  };
}

function toLogEntry([id, fields]: [string, string[]]): LogEntry {
  // Fields are written as w <writer> c <chunk>, in this order.
  return {
    sequence: Number.parseInt(id, 10),
    writer: fields[1] ?? '',
    message: JSON.parse(fields[3] ?? 'null') as StreamMessage,
  };
}

function toAppendResult([code, sequence, stop]: (string | number)[]): AppendResult {
  if (code === 1) {
    return { kind: 'appended', sequence: Number(sequence), stopRequested: stop === 1 };
  }
  return { kind: code === 2 ? 'fenced' : 'superseded' };
}
