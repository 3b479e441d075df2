import { isToolUIPart, getToolName, type UIMessage } from 'ai';
import { memo, type ReactElement } from 'react';
import { CopyButton } from './copy-button.js';
import { useToolNames } from './current-conversation.js';
import { FileView } from './file-view.js';
import { formatMoment, formatWhen } from './format-when.js';
import { groupParts } from './group-parts.js';
import { PlainText } from './plain-text-view.js';
import { ReplyText } from './reply-text.js';
import { sentAtOf } from './message-text.js';
import { ToolCard } from './tool-card.js';
import type { ToolPart } from './tool-state.js';

/** A line names this many tools and counts the rest. */
const NAMED = 3;

interface Props {
  message: UIMessage;
  /** True for the newest message, the only one that can still be answered. */
  newest: boolean;
}

/** Unchanged messages keep their identity, so only the growing one is rendered again. */
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
  /** True for a person's text, in which Markdown marks stay literal. */
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

/** Shows the time of sending, or a button that copies the reply's source. */
function MessageFoot({ message }: { message: UIMessage }): ReactElement | null {
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

/** Joins the texts of a reply, with a blank line where a call separates two. */
function wordsOf({ parts }: UIMessage): string {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.filter((text) => text !== '').join('\n\n');
}

/** Shows finished calls as one line that unfolds to their cards. */
function UsedTools({ calls }: { calls: readonly ToolPart[] }): ReactElement {
  const { titleOf } = useToolNames();
  const names = [...new Set(calls.map((part) => part.title ?? titleOf(getToolName(part))))];
  const others = names.length - NAMED;
  return (
    <details className="used" data-testid="used-tools">
      <summary>
        {calls.length === 1 ? 'Used a tool' : `Used ${String(calls.length)} tools`}
        <span className="used-names">
          {names.slice(0, NAMED).join(', ')}
          {others > 0 && ` and ${String(others)} more`}
        </span>
      </summary>
      {calls.map((part) => (
        <ToolCard key={part.toolCallId} part={part} newest={false} />
      ))}
    </details>
  );
}
