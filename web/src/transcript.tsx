import type { UIMessage } from 'ai';
import { useEffect, type ReactElement, type ReactNode } from 'react';
import { MessageView } from './message-view.js';
import { useStickToEnd } from './use-stick-to-end.js';

interface Props {
  messages: UIMessage[];
  /** A reply is being received. */
  live: boolean;
  thinking: boolean;
  /** Shown while there are no messages. */
  children?: ReactNode;
  /** What can be done with the newest turn. */
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
