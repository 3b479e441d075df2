import { isToolUIPart, type UIMessage } from 'ai';
import { memo, type ReactElement } from 'react';
import { useToolNames } from './current-conversation.js';
import { FileView } from './file-view.js';
import { groupParts } from './group-parts.js';
import { MessageFoot } from './message-foot.js';
import { PlainText } from './plain-text-view.js';
import { ReplyText } from './reply-text.js';
import { ToolCard } from './tool-card.js';
import { UsedTools } from './used-tools.js';

interface Props {
  message: UIMessage;
  /** Only the newest message can still be answered. */
  newest: boolean;
}

/** Messages that did not change keep their identity, so only the growing one is drawn again. */
export const MessageView = memo(function MessageView({ message, newest }: Props) {
  const { agentOf } = useToolNames();
  return (
    <article
      className={`message ${message.role}`}
      aria-label={message.role === 'user' ? 'You' : 'Agent'}
      data-testid="message"
      data-role={message.role}
      data-message-id={message.id}
    >
      {groupParts(message.parts, agentOf).map((group) =>
        group.kind === 'used' ? (
          <UsedTools key={group.key} calls={group.calls} />
        ) : (
          <PartView
            key={group.key}
            part={group.part}
            newest={newest}
            isTyped={message.role === 'user'}
          />
        ),
      )}
      <MessageFoot message={message} />
    </article>
  );
});

interface PartProps extends Omit<Props, 'message'> {
  part: UIMessage['parts'][number];
  /** A person wrote it, so its marks are no marks. */
  isTyped: boolean;
}

function PartView({ part, newest, isTyped }: PartProps): ReactElement | null {
  if (isToolUIPart(part)) return <ToolCard part={part} newest={newest} />;
  switch (part.type) {
    case 'text':
      if (part.text === '') return null;
      return isTyped ? <PlainText text={part.text} /> : <ReplyText text={part.text} />;
    case 'file':
      return <FileView file={part} />;
    case 'source-url':
      return (
        <a className="source" href={part.url} target="_blank" rel="noreferrer noopener">
          {part.title ?? part.url}
        </a>
      );
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
