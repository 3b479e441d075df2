import { byteLength, cjson, redis } from './host.js';
import { ownChunk, type Speaker } from './chunks.js';
import { field, int, list, optional, text } from './json.js';
import { write, type Log } from './log.js';
import { idsJson, storeMessages, type StoredMessage } from './messages.js';
import { joinAskers, noteAskers } from './places.js';
import { num, readRoot, setFields, type Root } from './root.js';
import type { Session } from './session.js';
import { countStored } from './size.js';

export type QueueMode = 'queue' | 'steer' | 'interrupt';

/** Messages that are queued or that steer. Their rows are never decoded. */
export interface QueueEntry {
  mode: QueueMode;
  messages: StoredMessage[];
  queuedAt: number;
  by?: string | undefined;
  /** Who asks by them, see lib/places. */
  askers: string;
}

export function entryJson({ mode, messages, queuedAt, by, askers }: QueueEntry): string {
  const items: string[] = [];
  for (const { id, hash, hidden, row } of messages) {
    const which = `"id":${text(id)},"hash":${text(hash)}`;
    items.push(`{${which},"hidden":${hidden ? 'true' : 'false'},"row":${text(row)}}`);
  }
  const first = (messages[0] as StoredMessage).id;
  const head = `"id":${text(first)},"mode":"${mode}","queuedAt":${int(queuedAt)}`;
  const who = `${field('by', optional(by))},"askers":${text(askers)}`;
  return `{${head}${who},"messages":${list(items)}}`;
}

export function readEntry(json: string): QueueEntry {
  return cjson.decode(json) as QueueEntry;
}

/** Mode of an entry, without decoding its messages, which may be large. */
function modeOf(json: string): QueueMode {
  const end = json.indexOf(',"messages":');
  const head = end < 0 ? json : `${json.slice(0, end)}}`;
  const isHead = head.startsWith('{"id":');
  return (cjson.decode(isHead ? head : json) as { mode: QueueMode }).mode;
}

/**
 * Stores the length of the queue and informs followers. @param removed ids of removed messages, as
 * JSON
 */
export function noteQueue(session: Session, log: Log, speaker: Speaker, removed: string): void {
  const queued = redis.call('LLEN', session.queue);
  setFields(session, ['queued', int(queued)]);
  const body = `"queued":${int(queued)}${field('removed', removed)}`;
  write(log, ownChunk(speaker, 'queue_changed', body));
}

/**
 * Adds an entry to the queue: interrupting ones come first, then steering ones, then queued ones.
 */
export function pushQueued(session: Session, log: Log, speaker: Speaker, entry: QueueEntry): void {
  const json = entryJson(entry);
  countStored(session, byteLength(json));
  const behind = entry.mode === 'queue' ? undefined : entryBehind(session, entry.mode);
  if (behind === undefined) redis.call('RPUSH', session.queue, json);
  else redis.call('LINSERT', session.queue, 'BEFORE', behind, json);
  noteQueue(session, log, speaker, '');
}

function entryBehind(session: Session, mode: QueueMode): string | undefined {
  for (const other of redis.call('LRANGE', session.queue, '0', '-1')) {
    if (mode === 'interrupt' || modeOf(other) !== 'steer') return other;
  }
  return undefined;
}

export function queuedBytes(session: Session): number {
  let bytes = 0;
  for (const json of redis.call('LRANGE', session.queue, '0', '-1')) bytes += byteLength(json);
  return bytes;
}

export function popQueued(session: Session): QueueEntry {
  const json = redis.call('LPOP', session.queue) as string;
  countStored(session, -byteLength(json));
  setFields(session, ['queued', int(redis.call('LLEN', session.queue))]);
  return readEntry(json);
}

export function steeringWaits(session: Session): boolean {
  const head = redis.call('LINDEX', session.queue, '0');
  return head !== false && modeOf(head) === 'steer';
}

/** Steering messages that came too late become queued messages. */
export function queueSteering(session: Session): void {
  let at = 0;
  for (const json of redis.call('LRANGE', session.queue, '0', '-1')) {
    if (modeOf(json) === 'steer') {
      const entry = readEntry(json);
      entry.mode = 'queue';
      redis.call('LSET', session.queue, int(at), entryJson(entry));
    }
    at += 1;
  }
}

const BEFORE_STEERING = ['controls', 'uiCount'] as const;

/**
 * Adds steering messages to the transcript. The reply so far is closed, and what follows is a new
 * turn, whose message id goes into the root. If the reply has not begun, it is not closed but
 * starts after the messages.
 */
export function takeSteering(
  session: Session,
  root: Root<'replied' | 'turn' | 'run' | 'askers'>,
  log: Log,
  speaker: Speaker,
): void {
  if (root.replied !== root.turn || !steeringWaits(session)) return;
  const before = readRoot(session, BEFORE_STEERING);
  const messages: StoredMessage[] = [];
  let { askers } = root;
  while (steeringWaits(session)) {
    const entry = popQueued(session);
    for (const message of entry.messages) messages.push(message);
    askers = joinAskers(entry.askers, askers);
  }
  const turn = num(root.turn) + 1;
  noteAskers(session, turn, askers ?? '');
  const { row, shown } = storeMessages(
    session,
    messages,
    before.uiCount,
    turn,
    root.run ?? '',
    log.seq,
  );
  const messageId = `msg-${int(shown)}`;
  const controls = int(num(before.controls));
  setFields(session, ['turn', int(turn), 'messageId', messageId, 'turnRow', int(row)]);
  setFields(session, ['turnSeq', int(log.seq), 'turnControls', controls, 'uiCount', int(shown)]);
  const body = `"runId":${text(root.run ?? '')},"messageId":"${messageId}"`;
  const about = `"messageIds":${idsJson(messages)},"reason":"steer"`;
  write(log, ownChunk(speaker, 'turn_started', `${body},${about}`));
}
