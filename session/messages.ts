import { byteLength } from './fields.js';
import type { Message } from './input.js';
import { type Session } from './tree.js';

/** Returns undefined also for a message that a rewind dropped: its id is free. */
export function acceptedHash(session: Session, id: string): string | undefined {
  const { hash, row } = (session.record && session.messages.get(id)) ?? {};
  if (row === undefined || session.record?.rewound !== true) return hash;
  const text = session.rows.at(row);
  return text !== undefined && headOf(text).id === id ? hash : undefined;
}

export function accept(session: Session, messages: readonly Pick<Message, 'id' | 'hash'>[]): void {
  for (const { id, hash } of messages) session.messages.set(id, { hash });
}

/** @returns index of the first row, and the new number of visible messages */
export function storeMessages(
  session: Session,
  messages: readonly Message[],
  visible: number,
  turn: number,
): { row: number; visible: number } {
  const row = pushRows(session, ...messages.map((message) => message.row));
  messages.forEach(({ id, hash }, at) => {
    session.messages.set(id, { hash, row: row + at, turn });
  });
  if (messages.some(({ hidden }) => hidden)) session.existing.hasHidden = true;
  return { row, visible: visible + messages.filter(({ hidden }) => !hidden).length };
}

/** Adds rows to the transcript. @returns index of the first one */
export function pushRows(session: Session, ...rows: readonly string[]): number {
  countStored(session, ...rows);
  return session.rows.push(...rows);
}

/** Keeps a large result apart from its row. @param id of its call or run */
export function keepResult(session: Session, id: string, result: string): void {
  session.tree.conversation.results.set(id, result);
  countStored(session, result);
}

/** Counts stored texts. Those of sub-agents count with the log, since they expire with it. */
export function countStored(session: Session, ...texts: readonly string[]): void {
  countBytes(session, sizeOf(texts));
}

export function countDropped(session: Session, ...texts: readonly string[]): void {
  countBytes(session, -sizeOf(texts));
}

function sizeOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + byteLength(text), 0);
}

export function countBytes(session: Session, bytes: number): void {
  if (session.isConversation) session.existing.sizes.stored += bytes;
  else session.tree.log.bytes += bytes;
}

/** The parsed part of a row. The large part, which comes after it, is never decoded. */
export interface RowHead {
  role: 'user' | 'assistant' | 'tool';
  id?: string;
  hidden?: boolean;
  messageId?: string;
  step?: number;
  toolCallId?: string;
  /** The row is for history only; the model does not get it. */
  display?: boolean;
}

/** Field names at which the large part of a row begins. Inside a string its quotation marks would be escaped. */
const BODY = /,"(parts|output|error|outputRef|denied|decision|events)":/;
/** Longer than any head. */
const MAX_HEAD = 4_000;

export function headOf(row: string): RowHead {
  const start = row.slice(0, MAX_HEAD);
  const at = start.search(BODY);
  return JSON.parse(at < 0 ? row : `${start.slice(0, at)}}`) as RowHead;
}

/** Adds a row of the reply; the first one of a turn makes a new visible message. */
export function pushReply(session: Session, row: string): void {
  const { existing: record } = session;
  pushRows(session, row);
  if (record.turn.hasReplied) return;
  record.turn.hasReplied = true;
  record.visible += 1;
}

export function addNotices(session: Session): void {
  const { existing: record } = session;
  if (record.notices.length === 0) return;
  const rows = record.notices.flatMap((id) => session.content.get(id) ?? []);
  pushRows(session, ...rows);
  session.content.unset(...record.notices);
  record.notices = [];
  record.hasHidden = true;
}
