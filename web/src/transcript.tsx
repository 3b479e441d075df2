import type { UIMessage } from 'ai';
import {
  useEffect,
  useCallback,
  useLayoutEffect,
  useRef,
  useState,
  type ReactElement,
  type ReactNode,
  type RefObject,
} from 'react';
import { MessageView } from './message-view.js';

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

interface StickToEnd {
  box: RefObject<HTMLElement | null>;
  /** True if the reader has scrolled away from the end. */
  away: boolean;
  onScroll: () => void;
  toEnd: () => void;
}

/** Follows the end of the growing content until the reader scrolls up, and again from the end on. */
function useStickToEnd(content: unknown): StickToEnd {
  const box = useRef<HTMLElement>(null);
  /** Scroll position that the reader chose. */
  const wanted = useRef(0);
  /** Scroll position that the page set, to tell its own scrolling from the reader's. */
  const placed = useRef(0);
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
    return () => {
      observer.disconnect();
    };
  }, [settle]);

  const onScroll = useCallback(() => {
    const element = box.current;
    if (element === null || element.scrollTop === placed.current) return;
    wanted.current = placed.current = element.scrollTop;
    setAway(element.scrollHeight - element.scrollTop - element.clientHeight > NEAR_PX);
  }, []);

  const toEnd = useCallback(() => {
    setAway(false);
  }, []);

  return { box, away, onScroll, toEnd };
}
