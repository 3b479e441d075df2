import { byteLength, cjson, formatInt, redis, toNumber, type ErrorReply } from './host.js';
import { addToField, num, setFields } from './root.js';
import { isShort } from './entries.js';
import type { Session } from './session.js';

/** Entries that a transition adds to a log, under explicit ids `<sequence>-0`. */
export interface Entries {
  stream: string;
  channel: string;
  /** Sequence before the first entry of this transition. */
  before: number;
  /** Sequence of the newest entry. */
  seq: number;
  /** `[sequence, writer, message]`, each as JSON. */
  written: string[];
  /** Size of the messages. */
  bytes: number;
}

/**
 * The log of a conversation as one transition writes it, with one publication for all. The sequence
 * lives in the conversation's root, so it survives the stream.
 */
export interface Log extends Entries {
  conversation: Session;
}

/** Opens the log. @param seq sequence as the conversation's root has it */
export function openLog(session: Session, seq: string | undefined): Log {
  const { stream, channel, conversation } = session;
  const at = num(seq);
  return { stream, channel, conversation, before: at, seq: at, written: [], bytes: 0 };
}

/** Adds an entry of a writer; entries of the store itself have the writer ''. */
export function write(log: Entries, json: string, writer = '', writerJson = '""'): void {
  log.bytes += byteLength(json);
  const seq = log.seq + 1;
  log.seq = seq;
  const id = formatInt(seq);
  const added = addEntry(log, `${id}-0`, json, writer);
  if (typeof added === 'string') log.written.push(`[${id},${writerJson},${json}]`);
  else writeBehind(log, json, writer, writerJson, added);
}

/**
 * A transition that failed between adding an entry and storing the sequence leaves entries above
 * that sequence; the log continues after them. Ids above the newest entry may be used up as well.
 */
function writeBehind(
  log: Entries,
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
    added = addEntry(log, `${formatInt(log.seq)}-0`, json, writer);
  }
  // Fails again, as an error that ends the transition.
  if (typeof added !== 'string')
    redis.call('XADD', log.stream, `${formatInt(log.seq)}-0`, 'w', writer, 'c', json);
  log.written.push(`[${formatInt(log.seq)},${writerJson},${json}]`);
}

function addEntry(
  { stream }: Entries,
  id: string,
  json: string,
  writer: string,
): string | ErrorReply {
  if (isShort(json)) return redis.pcall('XADD', stream, id, writer, json);
  return redis.pcall('XADD', stream, id, 'w', writer, 'c', json);
}

function newestEntry(log: Entries): number {
  const newest = redis.call('XREVRANGE', log.stream, '+', '-', 'COUNT', '1')[0];
  return newest === undefined ? 0 : sequenceOf(newest[0]);
}

/** Adds a control message of the store; these are counted apart. */
export function writeControl(log: Log, json: string): void {
  addToField(log.conversation, 'controls', 1);
  write(log, json);
}

/** Adds several messages of one writer. */
export function writeAll(log: Log, messages: readonly string[], writer: string): void {
  const writerJson = cjson.encode(writer);
  for (const message of messages) write(log, message, writer, writerJson);
}

/** Keeps the sequence, and publishes what was written. */
export function closeLog(log: Log): void {
  if (log.written.length === 0) return;
  addToField(log.conversation, 'logBytes', log.bytes);
  setFields(log.conversation, ['seq', formatInt(log.seq)]);
  publish(log);
}

export function publish({ channel, before, written }: Entries): void {
  if (written.length === 0) return;
  // Mostly it is one.
  const entries = written.length === 1 ? (written[0] as string) : written.join(',');
  redis.call('SPUBLISH', channel, `[${formatInt(before)},[${entries}]]`);
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
