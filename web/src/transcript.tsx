import { type UIMessage, isToolUIPart, getToolName } from 'ai';
import {
  useEffect,
  useCallback,
  useLayoutEffect,
  useRef,
  useState,
  type ReactElement,
  type ReactNode,
  memo,
} from 'react';
import { CopyButton } from './copy-button.js';
import { useToolNames } from './current-conversation.js';
import { FileView } from './file-view.js';
import { formatMoment, formatWhen } from './format-when.js';
import { PlainText } from './plain-text-view.js';
import { ReplyText } from './reply-text.js';
import { sentAtOf } from './message-text.js';
import { ToolCard } from './tool-card.js';
import { type ToolPart, toolCardState } from './tool-state.js';
import { toCustomerQuestion } from './answer-form.js';
import type { ToolNames } from './tool-names.js';

interface Props {
  messages: UIMessage[];
  /** True while a reply is being received. */
  live: boolean;
  thinking: boolean;
  /** Shown while there are no messages. */
  children?: ReactNode;
  /** Actions on the newest turn. */
  actions?: ReactNode;
}

export function Transcript(props: Props): ReactElement {
  const { messages, live, thinking, children, actions } = props;
  const { box, away, onScroll, toEnd } = useStickToEnd(messages);
  const newest = messages.at(-1);
  const sent = newest?.role === 'user' ? newest.id : undefined;
  // A person who sends a message wants to see the reply.
  useEffect(() => {
    if (sent !== undefined) toEnd();
  }, [sent, toEnd]);
  return (
    <div className="transcript-frame">
      <main className="transcript" ref={box} onScroll={onScroll}>
        <div
          className="messages"
          role="log"
          aria-label="Conversation"
          aria-live="polite"
          aria-busy={live}
        >
          {messages.length === 0 && !thinking && children}
          {messages.map((message, index) => (
            <MessageView
              key={message.id}
              message={message}
              newest={index === messages.length - 1}
            />
          ))}
          {thinking && (
            <p className="dots" aria-hidden="true">
              <span />
              <span />
              <span />
            </p>
          )}
          {actions}
        </div>
      </main>
      {away && (
        <button type="button" className="to-end" onClick={toEnd}>
          ↓ Newest
        </button>
      )}
    </div>
  );
}

const NEAR_PX = 48;

/** Follows the end of the growing content until the reader scrolls up, and again from the end on. */
function useStickToEnd(content: unknown) {
  const box = useRef<HTMLElement>(null);
  /** Scroll position that the reader chose. */
  const wanted = useRef(0);
  /** Scroll position that the page set, to tell its own scrolling from the reader's. */
  const placed = useRef(0);
  /** True if the reader has scrolled away from the end. */
  const [away, setAway] = useState(false);

  const settle = useCallback(() => {
    const element = box.current;
    if (element === null) return;
    // A replayed reply is shorter for a moment, which would move the view up.
    element.scrollTop = away ? wanted.current : element.scrollHeight;
    placed.current = element.scrollTop;
  }, [away]);

  useLayoutEffect(settle, [content, settle]);

  useEffect(() => {
    if (box.current === null) return;
    const observer = new ResizeObserver(settle);
    observer.observe(box.current);
    // Facts that arrive outside of the messages, such as the approvers, make cards grow.
    for (const child of box.current.children) observer.observe(child);
    return () => observer.disconnect();
  }, [settle]);

  const onScroll = useCallback(() => {
    const element = box.current;
    if (element === null || element.scrollTop === placed.current) return;
    wanted.current = placed.current = element.scrollTop;
    setAway(element.scrollHeight - element.scrollTop - element.clientHeight > NEAR_PX);
  }, []);

  const toEnd = useCallback(() => setAway(false), []);

  return { box, away, onScroll, toEnd };
}

/** A line names this many tools and counts the rest. */
const NAMED = 3;

interface MessageProps {
  message: UIMessage;
  /** True for the newest message, the only one that can still be answered. */
  newest: boolean;
}

/** Unchanged messages keep their identity, so only the growing one is rendered again. */
const MessageView = memo(function MessageView({ message, newest }: MessageProps) {
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

interface PartProps extends Omit<MessageProps, 'message'> {
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

type Part = UIMessage['parts'][number];

/** Message parts in order; consecutive finished calls form one group. */
type PartGroup =
  { kind: 'part'; key: number; part: Part } | { kind: 'used'; key: number; calls: ToolPart[] };

/** Groups finished calls that need no attention, across steps. */
export function groupParts(parts: readonly Part[], agentOf: ToolNames['agentOf']): PartGroup[] {
  const groups: PartGroup[] = [];
  for (const [key, part] of parts.entries()) {
    if (part.type === 'step-start') continue;
    const last = groups.at(-1);
    if (!isToolUIPart(part) || !isFinished(part, agentOf)) groups.push({ kind: 'part', key, part });
    else if (last?.kind === 'used') last.calls.push(part);
    else groups.push({ kind: 'used', key, calls: [part] });
  }
  return groups;
}

/** Returns false for calls that people decided and for sub-agents; those stay visible. */
function isFinished(part: ToolPart, agentOf: ToolNames['agentOf']): boolean {
  const name = getToolName(part);
  return (
    toolCardState(part) === 'done' &&
    part.approval === undefined &&
    agentOf(name) === undefined &&
    toCustomerQuestion(name, part.input) === undefined
  );
}
