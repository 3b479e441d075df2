import { isToolUIPart, type UIMessage } from 'ai';
import { memo, type ReactElement } from 'react';
import { RichText } from './rich-text.js';
import { ToolCard } from './tool-card.js';

interface Props {
  message: UIMessage;
  /** Only the newest message can still be answered. */
  newest: boolean;
}

/** Messages that did not change keep their identity, so only the growing one is drawn again. */
export const MessageView = memo(function MessageView({ message, newest }: Props) {
  return (
    <article
      className={`message ${message.role}`}
      aria-label={message.role === 'user' ? 'You' : 'Agent'}
      data-testid="message"
      data-role={message.role}
      data-message-id={message.id}
    >
      {message.parts.map((part, index) => (
        <PartView key={index} part={part} newest={newest} />
      ))}
    </article>
  );
});

interface PartProps extends Omit<Props, 'message'> {
  part: UIMessage['parts'][number];
}

function PartView({ part, newest }: PartProps): ReactElement | null {
  if (isToolUIPart(part)) return <ToolCard part={part} newest={newest} />;
  switch (part.type) {
    case 'text':
      return part.text === '' ? null : <RichText text={part.text} />;
    case 'reasoning':
      return part.text === '' ? null : (
        <details className="reasoning" data-testid="reasoning">
          <summary>{part.state === 'streaming' ? 'Thinking…' : 'Thoughts'}</summary>
          <p>{part.text}</p>
        </details>
      );
    default:
      return null;
  }
}
