import type { Row } from '../protocol/rows.js';
import type { SessionRecord, SessionView } from '../stores/session-store.js';
import { convertToUIMessages, toSilentMessage } from './convert-messages.js';
import type { UIMessage } from './ui-message.js';

/** All of the conversation, without the reply that is being written. */
export function toSettledMessages({ record, rows }: SessionView): UIMessage[] {
  const isSettled = (row: Row, index: number): boolean =>
    index < record.turnStartRow || row.role === 'user';
  return convertToUIMessages(rows.filter(isSettled));
}

/** All of the conversation, with the calls that wait. */
export function toAllMessages({ record, rows, openCalls }: SessionView): UIMessage[] {
  const messages = convertToUIMessages(rows, {
    openCalls,
    ...(isOngoing(record) && { unfinishedMessageId: record.messageId }),
  });
  const isSilent = record.stream === 'ended' && messages.at(-1)?.id !== record.messageId;
  if (isSilent) messages.push(toSilentMessage(record.messageId));
  return messages;
}

/** True while the newest turn may still get parts. */
export function isOngoing({ stream }: SessionRecord): boolean {
  return stream === 'active' || stream === 'paused';
}
