import { exact, parseUint64, type Int64 } from './integers.js';
import { RedisError } from './reply.js';

export interface StreamId {
  readonly ms: Int64;
  readonly seq: Int64;
}

const UINT64_MAX = 2n ** 64n - 1n;
/** Redis copies ids into a buffer of this size before it reads them. */
const MAX_BYTES = 127;

export const FIRST_ID: StreamId = { ms: 0, seq: 0 };
export const LAST_ID: StreamId = { ms: UINT64_MAX, seq: UINT64_MAX };

/** What a missing part behind the milliseconds stands for. */
export type MissingSeq = 'lowest' | 'highest';

export function compareIds(a: StreamId, b: StreamId): number {
  if (a.ms < b.ms) return -1;
  if (a.ms > b.ms) return 1;
  if (a.seq < b.seq) return -1;
  return a.seq > b.seq ? 1 : 0;
}

export function formatId({ ms, seq }: StreamId): string {
  return `${String(ms)}-${String(seq)}`;
}

/** An id as it stands, without the signs for the first and the last one. */
export function parseStrictId(text: string, missing: MissingSeq = 'lowest'): StreamId {
  const id = parseParts(text, missing);
  if (id === undefined) {
    throw new RedisError('ERR Invalid stream ID specified as stream command argument');
  }
  return id;
}

function parseParts(text: string, missing: MissingSeq): StreamId | undefined {
  if (text.length > MAX_BYTES) return undefined;
  const end = text.indexOf('\0');
  if (end !== -1) {
    return Buffer.byteLength(text) > MAX_BYTES
      ? undefined
      : parseParts(text.slice(0, end), missing);
  }
  const dash = text.indexOf('-');
  const ms = parseUint64(dash === -1 ? text : text.slice(0, dash));
  if (ms === undefined) return undefined;
  if (dash === -1) return { ms, seq: missing === 'lowest' ? 0 : UINT64_MAX };
  const seq = parseUint64(text.slice(dash + 1));
  return seq === undefined ? undefined : { ms, seq };
}

function parseEdge(text: string, missing: MissingSeq): StreamId {
  if (text === '-' || text.startsWith('-\0')) return FIRST_ID;
  if (text === '+' || text.startsWith('+\0')) return LAST_ID;
  return parseStrictId(text, missing);
}

/** The lowest id that a range from here contains. */
export function parseRangeStart(text: string): StreamId {
  if (!isExclusive(text)) return parseEdge(text, 'lowest');
  const { ms, seq } = parseStrictId(text.slice(1), 'lowest');
  if (seq < UINT64_MAX) return { ms, seq: exact(BigInt(seq) + 1n) };
  if (ms < UINT64_MAX) return { ms: exact(BigInt(ms) + 1n), seq: 0 };
  throw new RedisError('ERR invalid start ID for the interval');
}

/** The highest id that a range to here contains. */
export function parseRangeEnd(text: string): StreamId {
  if (!isExclusive(text)) return parseEdge(text, 'highest');
  const { ms, seq } = parseStrictId(text.slice(1), 'highest');
  if (seq > 0) return { ms, seq: exact(BigInt(seq) - 1n) };
  if (ms > 0) return { ms: exact(BigInt(ms) - 1n), seq: UINT64_MAX };
  throw new RedisError('ERR invalid end ID for the interval');
}

function isExclusive(text: string): boolean {
  return text.length > 1 && text.startsWith('(');
}
