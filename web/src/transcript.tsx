import type { UIMessage } from 'ai';
import type { ReactElement, ReactNode } from 'react';
import type { OnAnswer } from './approval-card.js';
import { MessageView } from './message-view.js';
import { useStickToEnd } from './use-stick-to-end.js';

interface Props {
  messages: UIMessage[];
  /** A reply is being received. */
  live: boolean;
  thinking: boolean;
  onAnswer: OnAnswer;
  /** What stands there while nothing has been said. */
  children?: ReactNode;
}

export function Transcript(props: Props): ReactElement {
  const { messages, live, thinking, onAnswer, children } = props;
  const { box, away, onScroll, toEnd } = useStickToEnd(messages);
  return (
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
            onAnswer={onAnswer}
          />
        ))}
        {thinking && (
          <p className="dots" aria-hidden="true">
            <span />
            <span />
            <span />
          </p>
        )}
      </div>
      {away && (
        <button type="button" className="to-end" onClick={toEnd}>
          ↓ Newest
        </button>
      )}
    </main>
  );
}
