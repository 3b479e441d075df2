import type { UIMessage } from 'ai';
import type { ReactElement } from 'react';
import { CopyButton } from './copy-button.js';
import { formatMoment, formatWhen } from './format-when.js';
import { sentAtOf } from './sent-at.js';

/** Below a message: when it was sent, or a button that copies the reply as it was written. */
export function MessageFoot({ message }: { message: UIMessage }): ReactElement | null {
  if (message.role === 'user') {
    const sentAt = sentAtOf(message);
    if (sentAt === undefined) return null;
    return (
      <time
        className="sent-at"
        data-testid="sent-at"
        dateTime={new Date(sentAt).toISOString()}
        title={formatMoment(sentAt)}
      >
        {formatWhen(sentAt)}
      </time>
    );
  }
  const hasText = message.parts.some((part) => part.type === 'text' && part.text !== '');
  if (!hasText) return null;
  return (
    <div className="message-foot">
      <CopyButton label="reply" read={() => wordsOf(message)} />
    </div>
  );
}

/** Texts of a reply, with a blank line where a call stands between two. */
function wordsOf({ parts }: UIMessage): string {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.filter((text) => text !== '').join('\n\n');
}
