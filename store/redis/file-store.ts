import { LIMITS } from '../../protocol/limits.js';
import type { FilePlace, FileStore } from '../contract/files.js';
import type { RedisConnection } from './clients.js';
import { callRedis } from './errors.js';
import type { KeySpace } from './keys.js';
import type { Send } from './send.js';

const PIECE = LIMITS.filePieceBytes;

/** Keeps the bytes of files in Redis, in pieces: a hash for each conversation, which expires and is erased with it. */
export function createRedisFileStore(
  redis: RedisConnection,
  keys: Pick<KeySpace, 'session'>,
  send: Send,
): FileStore {
  const keyOf = ({ sessionId }: FilePlace): string => keys.session(sessionId).fileBytes;
  const fieldsOf = ({ fileId }: FilePlace, from: number, to: number): string[] =>
    Array.from({ length: to - from }, (_, at) => `${fileId}:${String(from + at)}`);

  return {
    write: async (place, content) => {
      const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
      // Pieces are sent one by one, so that a large file does not hold up other commands.
      for (let at = 0; at * PIECE < bytes.length; at += 1) {
        const [field = ''] = fieldsOf(place, at, at + 1);
        const piece = bytes.subarray(at * PIECE, (at + 1) * PIECE);
        await callRedis(send(() => redis.hset(keyOf(place), field, piece)));
      }
    },
    read: async (place, { from, to }) => {
      if (to <= from) return new Uint8Array();
      const first = Math.floor(from / PIECE);
      const fields = fieldsOf(place, first, Math.ceil(to / PIECE));
      const pieces: Buffer[] = [];
      for (const field of fields) {
        const [piece] = await callRedis(send(() => redis.hmgetBuffer(keyOf(place), field)));
        if (piece == null) return undefined;
        pieces.push(piece);
      }
      return Buffer.concat(pieces).subarray(from - first * PIECE, to - first * PIECE);
    },
    remove: async (place) => {
      const max = Math.ceil(LIMITS.largestFileBytes / PIECE);
      await callRedis(send(() => redis.hdel(keyOf(place), ...fieldsOf(place, 0, max))));
    },
  };
}
