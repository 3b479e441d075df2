import { formatInt, redis } from './host.js';
import { texts } from './json.js';
import { placeOfTurn } from './places.js';
import { num, setFields } from './root.js';
import type { Session } from './session.js';
import { countStored, sizeOf } from './size.js';

/** A user message as it is stored. */
export interface StoredMessage {
  id: string;
  hash: string;
  /** JSON. */
  row: string;
  hidden: boolean;
}

/** A user message of a request; `row` is the number of the argument that holds its row. */
export interface MessageArgument {
  id: string;
  hash: string;
  row: number;
  hidden: boolean;
}

export function toStored(
  messages: readonly MessageArgument[],
  args: readonly string[],
): StoredMessage[] {
  const found: StoredMessage[] = [];
  for (const { id, hash, row, hidden } of messages) {
    found.push({ id, hash, row: args[row] as string, hidden });
  }
  return found;
}

/**
 * Adds user messages to the transcript and notes their places, and the turn that they begin. The
 * caller stores the new number of visible messages.
 *
 * @param uiCount number of visible messages before
 * @param runId the run that replies to them
 * @param seq sequence before the turn's first entry; absent if the turn is noted elsewhere
 */
export function storeMessages(
  session: Session,
  messages: readonly StoredMessage[],
  uiCount: string | undefined,
  turn: number,
  runId: string,
  seq?: number,
): { row: number; shown: number } {
  const rows: string[] = [];
  let shown = num(uiCount);
  for (const message of messages) {
    rows.push(message.row);
    if (!message.hidden) shown += 1;
  }
  const row = redis.call('RPUSH', session.rows, ...rows) - rows.length;
  countStored(session, sizeOf(rows));
  const of = formatInt(turn);
  const places: string[] = [];
  for (const message of messages) {
    const at = places.length;
    places[at] = `m:${message.id}`;
    places[at + 1] = `${formatInt(row + at / 2)} ${of}`;
  }
  places.push(`a:${of}`, runId);
  if (shown - num(uiCount) < messages.length) noteHidden(session);
  if (seq !== undefined) {
    const messageId = `msg-${formatInt(shown)}`;
    places.push(`t:${of}`, placeOfTurn({ turn, row, seq, messageId }));
  }
  redis.call('HSET', session.places, ...places);
  return { row, shown };
}

/** Some messages of the conversation are shown to models only. Stays if they are withdrawn. */
export function noteHidden(session: Session): void {
  setFields(session, ['hasHidden', '1']);
}

export function idsJson(messages: readonly StoredMessage[]): string {
  const ids: string[] = [];
  for (const { id } of messages) ids.push(id);
  return texts(ids);
}
