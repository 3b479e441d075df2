import { byteLength, cjson, formatInt, redis, toNumber, type ErrorReply } from './host.js';
import { num } from './root.js';
import type { Session } from './session.js';

/**
 * The log of a conversation while one transition writes to it: entries get explicit ids
 * `<sequence>-0` and are published together at the end. The sequence is kept in the root of the
 * conversation, so it survives the stream.
 */
export interface Log {
  stream: string;
  channel: string;
  /** Key of the conversation's root. */
  root: string;
  /** Sequence before the first entry of this transition. */
  before: number;
  /** Sequence of the newest entry. */
  seq: number;
  /** `[sequence, writer, message]`, each as JSON. */
  written: string[];
  /** Size of the messages. */
  bytes: number;
  /** Size of the log before; set where nothing else in the transition changes it. */
  bytesBefore?: number;
}

/** Opens the log. @param seq sequence as the conversation's root has it */
export function openLog(session: Session, seq: string | undefined): Log {
  const { stream, channel, conversation } = session;
  const at = num(seq);
  const { root } = conversation;
  return { stream, channel, root, before: at, seq: at, written: [], bytes: 0 };
}

/** Adds an entry of a writer; entries of the store itself have the writer ''. */
export function write(log: Log, json: string, writer = '', writerJson = '""'): void {
  log.bytes += byteLength(json);
  const seq = log.seq + 1;
  log.seq = seq;
  const id = formatInt(seq);
  const added = redis.pcall('XADD', log.stream, `${id}-0`, 'w', writer, 'c', json);
  if (typeof added === 'string') log.written.push(`[${id},${writerJson},${json}]`);
  else writeBehind(log, json, writer, writerJson, added);
}

/**
 * A transition that failed between adding an entry and storing the sequence leaves entries above
 * that sequence; the log continues after them. Ids above the newest entry may be used up as well.
 */
function writeBehind(
  log: Log,
  json: string,
  writer: string,
  writerJson: string,
  refusal: ErrorReply,
): void {
  let added: string | ErrorReply = refusal;
  let step = 1;
  while (typeof added !== 'string' && added.err.includes('equal or smaller')) {
    log.seq = Math.max(newestEntry(log) + 1, log.seq + step);
    if (log.written.length === 0) log.before = log.seq - 1;
    step *= 2;
    added = addEntry(log, json, writer);
  }
  if (typeof added !== 'string')
    redis.call('XADD', log.stream, entryId(log), 'w', writer, 'c', json);
  log.written.push(`[${formatInt(log.seq)},${writerJson},${json}]`);
}

function addEntry(log: Log, json: string, writer: string): string | ErrorReply {
  return redis.pcall('XADD', log.stream, entryId(log), 'w', writer, 'c', json);
}

function entryId(log: Log): string {
  return `${formatInt(log.seq)}-0`;
}

function newestEntry(log: Log): number {
  const newest = redis.call('XREVRANGE', log.stream, '+', '-', 'COUNT', 1)[0];
  return newest === undefined ? 0 : sequenceOf(newest[0]);
}

/** Adds a control message of the store; these are counted apart. */
export function writeControl(log: Log, json: string): void {
  redis.call('HINCRBY', log.root, 'controls', 1);
  write(log, json);
}

/** Adds several messages of one writer. */
export function writeAll(log: Log, messages: readonly string[], writer: string): void {
  const writerJson = cjson.encode(writer);
  for (const message of messages) write(log, message, writer, writerJson);
}

/**
 * Stores the sequence, with further fields of the conversation's root, and publishes the new
 * entries.
 */
export function closeLog(log: Log, alongside: readonly string[] = []): void {
  if (log.written.length === 0) {
    if (alongside.length > 0) redis.call('HSET', log.root, ...alongside);
    return;
  }
  if (log.bytesBefore === undefined) {
    redis.call('HINCRBY', log.root, 'logBytes', log.bytes);
    redis.call('HSET', log.root, 'seq', log.seq, ...alongside);
  } else {
    const logBytes = log.bytesBefore + log.bytes;
    redis.call('HSET', log.root, 'seq', log.seq, 'logBytes', logBytes, ...alongside);
  }
  redis.call('SPUBLISH', log.channel, `[${formatInt(log.before)},[${log.written.join(',')}]]`);
}

/** The sequence in an entry id. */
export function sequenceOf(id: string): number {
  return toNumber(id.slice(0, id.indexOf('-')));
}

/** True for a control message of the store; those of this release begin with their type. */
export function isControl(writer: string, json: string): boolean {
  if (writer !== '') return false;
  if (json.startsWith('{"type":"')) return isControlType(json.slice(9, json.indexOf('"', 9)));
  try {
    return isControlType((cjson.decode(json) as { type?: string }).type);
  } catch {
    return false;
  }
}

function isControlType(type: string | undefined): boolean {
  return type === 'stream_end' || type === 'stream_status' || type === 'stream_truncated';
}
