import { byteLength } from './fields.js';
import type { KnownPerson } from '../protocol/actor.js';
import type { Message, Stored, UserMessage } from './input.js';
import { accept, countDropped, countStored } from './messages.js';
import type { QueueEntry } from './record.js';
import { isTerminal } from '../protocol/run.js';
import { armExpiry } from './finish.js';
import { writeChunk, authorOf, type ChunkAuthor } from './chunks.js';
import { joinAskers, openTurn, toAsker } from './turns.js';
import { type Session } from './tree.js';

/** A queue entry with its rows. */
export interface Queued extends Omit<QueueEntry, 'messages' | 'by'> {
  by: string | undefined;
  messages: readonly Message[];
}

export function noteQueue(
  session: Session,
  author: ChunkAuthor,
  removed?: readonly string[],
): void {
  const queued = session.existing.queue.length;
  writeChunk(session, author, 'queue_changed', { queued, removed });
}

/** Adds an entry: interrupting ones come first, then steering ones, then queued ones. */
export function pushQueued(
  session: Session,
  author: ChunkAuthor,
  { messages, by, ...rest }: Queued,
): void {
  const { queue } = session.existing;
  const { mode } = rest;
  const entry: QueueEntry = {
    ...rest,
    ...(by !== undefined && { by }),
    messages: messages.map(({ id, hash, hidden }) => ({ id, hash, hidden })),
  };
  for (const { id, row } of messages) session.content.set(`q:${id}`, row);
  countStored(session, ...messages.map(({ row }) => row));
  const behind = queue.findIndex(
    (other) => mode === 'interrupt' || (mode === 'steer' && other.mode !== 'steer'),
  );
  queue.splice(behind < 0 ? queue.length : behind, 0, entry);
  noteQueue(session, author);
}

export function queuedBytes(session: Session): number {
  const ids = session.record?.queue.flatMap(({ messages }) => messages.map(({ id }) => id)) ?? [];
  return ids.reduce((sum, id) => sum + byteLength(session.content.get(`q:${id}`) ?? ''), 0);
}

/** The queue must not be empty. */
export function popQueued(session: Session): Queued {
  const entry = session.existing.queue.shift();
  if (entry === undefined) throw new Error('the queue is empty');
  return takeRows(session, entry);
}

function takeRows(session: Session, entry: QueueEntry): Queued {
  const messages = entry.messages.map((message) => ({
    ...message,
    row: session.content.get(`q:${message.id}`) ?? '',
  }));
  countDropped(session, ...messages.map(({ row }) => row));
  session.content.unset(...messages.map(({ id }) => `q:${id}`));
  return { ...entry, by: entry.by, messages };
}

export function steeringWaits(session: Session): boolean {
  return session.existing.queue[0]?.mode === 'steer';
}

/**
 * Adds steering messages to the transcript. Closes the current reply; the following one belongs to a new turn. A reply
 * that has not begun is not closed but starts after the messages.
 */
export function takeSteering(session: Session, author: ChunkAuthor): void {
  const { existing: record } = session;
  if (!record.turn.hasReplied || !steeringWaits(session)) return;
  const messages: Message[] = [];
  let { askers } = record.turn;
  while (steeringWaits(session)) {
    const entry = popQueued(session);
    messages.push(...entry.messages);
    askers = joinAskers(entry.askers, askers);
  }
  openTurn(session, author, { messages, askers }, { runId: record.run.id, reason: 'steer' });
}

export interface EditQueued {
  sessionId: string;
  /** The new content, under the id of the message that it replaces. */
  message: Pick<UserMessage, 'id' | 'hash' | 'row'>;
  /** Hash of the content that the editor has seen. */
  expectedHash: string;
  /** The editor, who becomes the author. */
  asker?: KnownPerson;
  now: number;
}

export interface EditQueuedReply {
  /** `stale`: the message was changed since it was read. `not_queued`: the message is not queued, or no longer. */
  kind: 'edited' | 'stale' | 'not_queued';
}

export function editQueued(
  session: Session,
  { message, expectedHash, asker, now }: Stored<EditQueued>,
): EditQueuedReply {
  const { id, hash, row } = message;
  const entry = session.record?.queue.find(({ messages }) =>
    messages.some((each) => each.id === id),
  );
  const queued = entry?.messages.find((each) => each.id === id);
  if (entry === undefined || queued === undefined) return { kind: 'not_queued' };
  if (queued.hash === hash) return { kind: 'edited' };
  if (queued.hash !== expectedHash) return { kind: 'stale' };
  queued.hash = hash;
  entry.askers = joinAskers(toAsker({ asker }, true), entry.askers);
  countDropped(session, session.content.get(`q:${id}`) ?? '');
  countStored(session, row);
  session.content.set(`q:${id}`, row);
  accept(session, [{ id, hash }]);
  noteQueue(session, authorOf(session, now));
  session.tree.emit({ kind: 'charge_changed' });
  return { kind: 'edited' };
}

export interface RemoveQueued {
  sessionId: string;
  /** Any message of the entry; absent: all entries. */
  messageId?: string;
  now: number;
}

export interface RemoveQueuedReply {
  kind: 'removed';
  count: number;
}

/** Removes waiting messages from the queue; their ids count as never accepted. */
export function removeQueued(
  session: Session,
  { messageId, now }: Stored<RemoveQueued>,
): RemoveQueuedReply {
  const { record } = session;
  const isMeant = ({ messages }: QueueEntry): boolean =>
    messageId === undefined || messages.some(({ id }) => id === messageId);
  const meant = record?.queue.filter(isMeant) ?? [];
  if (record === undefined || meant.length === 0) return { kind: 'removed', count: 0 };
  record.queue = record.queue.filter((entry) => !isMeant(entry));
  const ids = meant.flatMap((entry) => takeRows(session, entry).messages.map(({ id }) => id));
  session.messages.unset(...ids);
  noteQueue(session, authorOf(session, now), ids);
  session.tree.emit({ kind: 'charge_changed' });
  // An ended session did not expire while messages waited.
  if (isTerminal(record.run.status) && record.queue.length === 0) armExpiry(session);
  return { kind: 'removed', count: meant.length };
}
