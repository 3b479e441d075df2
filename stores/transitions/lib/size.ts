import { byteLength, redis } from './host.js';
import { addToField } from './root.js';
import { isConversation, type Session } from './session.js';

/**
 * The stored size of a conversation is counted as it is written and dropped, in UTF-8 bytes, in two
 * fields of its root: `bytes` for transcript, queue, results and states, `logBytes` for what
 * expires with the stream: its entries and the transcripts of sub-agents. `logTurn` is the part of
 * `logBytes` before the newest turn. `counted` is set if the session was counted from its
 * beginning.
 */

/** Counts what was written, or with a negative number what was dropped. */
export function countStored(session: Session, bytes: number): void {
  if (bytes === 0) return;
  addToField(session.conversation, isConversation(session) ? 'bytes' : 'logBytes', bytes);
}

export function countDroppedLog(session: Session, bytes: number): void {
  if (bytes !== 0) addToField(session.conversation, 'logBytes', -bytes);
}

export function sizeOf(texts: readonly string[]): number {
  let bytes = 0;
  for (const text of texts) bytes += byteLength(text);
  return bytes;
}

/** Size of some values of a hash. */
export function sizeOfFields(key: string, fields: readonly string[]): number {
  let bytes = 0;
  for (const field of fields) bytes += redis.call('HSTRLEN', key, field);
  return bytes;
}
