import type { Row } from '../../protocol/rows.js';
import type { SessionRecord, SessionView } from '../../store/contract/sessions.js';
import {
  convertToUIMessages,
  toSilentMessage,
  type ConvertOptions,
} from '../parts/convert-messages.js';
import type { UIMessage } from '../parts/ui-message.js';

/** Converts the conversation without the reply that is being written. */
export function toSettledMessages(
  { record, rows, firstRow = 0 }: SessionView,
  options: ConvertOptions = {},
): UIMessage[] {
  const isSettled = (row: Row, index: number): boolean =>
    firstRow + index < record.turnStartRow || row.role === 'user';
  return convertToUIMessages(rows.filter(isSettled), options);
}

export function toAllMessages(
  { record, rows, openCalls }: SessionView,
  options: ConvertOptions = {},
): UIMessage[] {
  const messages = convertToUIMessages(rows, {
    ...options,
    openCalls,
    unfinishedMessageId: isOngoing(record) ? record.messageId : undefined,
  });
  const { messageId, stream, sequence, turnStartSequence } = record;
  const hasReply = rows.some((row) => row.role === 'assistant' && row.messageId === messageId);
  // No run has written anything for the question with which a copied conversation ends.
  const hasRun = sequence > turnStartSequence;
  if (stream === 'ended' && hasRun && !hasReply) messages.push(toSilentMessage(messageId));
  return messages;
}

/** Returns true while the newest turn may still get parts. */
export function isOngoing({ stream }: SessionRecord): boolean {
  return stream === 'active' || stream === 'paused';
}
