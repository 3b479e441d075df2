import type { Row } from '../../protocol/rows.js';
import type { SessionRecord, SessionView } from '../../stores/contract/sessions.js';
import { convertToUIMessages, toSilentMessage, type ConvertOptions } from '../parts/convert-messages.js';
import type { UIMessage } from '../parts/ui-message.js';

/** All of the conversation, without the reply that is being written. */
export function toSettledMessages(
  { record, rows }: SessionView,
  options: ConvertOptions = {},
): UIMessage[] {
  const isSettled = (row: Row, index: number): boolean =>
    index < record.turnStartRow || row.role === 'user';
  return convertToUIMessages(rows.filter(isSettled), options);
}

/** All of the conversation, with the calls that wait. */
export function toAllMessages(
  { record, rows, openCalls }: SessionView,
  options: ConvertOptions = {},
): UIMessage[] {
  const messages = convertToUIMessages(rows, {
    ...options,
    openCalls,
    ...(isOngoing(record) && { unfinishedMessageId: record.messageId }),
  });
  const { messageId, stream } = record;
  const hasReply = rows.some((row) => row.role === 'assistant' && row.messageId === messageId);
  if (stream === 'ended' && !hasReply) messages.push(toSilentMessage(record.messageId));
  return messages;
}

/** True while the newest turn may still get parts. */
export function isOngoing({ stream }: SessionRecord): boolean {
  return stream === 'active' || stream === 'paused';
}
