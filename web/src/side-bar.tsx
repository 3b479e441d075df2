import { useEffect, useRef, useState, type ReactElement } from 'react';
import type { ListedConversation } from './use-conversation-list.js';
import { formatWhen } from './format-when.js';
import { LoadFault } from './load-fault.js';
import { useClosing } from './use-closing.js';
import { useConversationList } from './use-conversation-list.js';

interface Props {
  /** Session id of the shown conversation. */
  current: string | undefined;
  /** Changes with every event in the conversation. */
  version: unknown;
  /** True if a narrow screen shows the list; a wide screen always does. */
  isOpen: boolean;
  onOpen: (sessionId: string) => void;
  onNewChat: () => void;
  onClose: () => void;
}

/** Lists the person's conversations, with a search over their titles. */
export function SideBar(props: Props): ReactElement {
  const { current, version, isOpen, onOpen, onNewChat, onClose } = props;
  const [search, setSearch] = useState('');
  const { conversations, failed, again, loadMore } = useConversationList(search, version);

  const list = useRef<HTMLElement>(null);
  useClosing(isOpen, [list], onClose);
  // The page behind the open list is inert, so focus cannot leave the list.
  useEffect(() => {
    if (isOpen) list.current?.querySelector('button')?.focus();
  }, [isOpen]);

  return (
    <>
      {isOpen && <div className="side-shade" aria-hidden="true" />}
      <nav
        className={isOpen ? 'side open' : 'side'}
        aria-label="Conversations"
        id="conversations"
        ref={list}
      >
        <button type="button" className="primary" data-testid="side-new-chat" onClick={onNewChat}>
          New chat
        </button>
        <input
          type="search"
          aria-label="Search conversations"
          placeholder="Search"
          data-testid="side-search"
          value={search}
          onChange={(event) => {
            setSearch(event.target.value);
          }}
        />
        {failed && <LoadFault text="The list could not be read." onAgain={again} />}
        {conversations === undefined && !failed && <p role="status">Loading…</p>}
        {conversations?.length === 0 && (
          <p>{search === '' ? 'No conversations yet.' : 'Nothing found.'}</p>
        )}
        <ul>
          {conversations?.map((conversation) => (
            <li key={conversation.sessionId}>
              <Entry
                conversation={conversation}
                isCurrent={conversation.sessionId === current}
                onOpen={onOpen}
              />
            </li>
          ))}
        </ul>
        {loadMore !== undefined && (
          <button type="button" data-testid="side-more" onClick={loadMore}>
            Older conversations
          </button>
        )}
      </nav>
    </>
  );
}

interface EntryProps {
  conversation: ListedConversation;
  isCurrent: boolean;
  onOpen: (sessionId: string) => void;
}

function Entry({ conversation, isCurrent, onOpen }: EntryProps): ReactElement {
  const { sessionId, title, updatedAt, waiting } = conversation;
  return (
    <button
      type="button"
      className="plain"
      data-testid="side-conversation"
      data-conversation={sessionId}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={() => {
        onOpen(sessionId);
      }}
    >
      <span className="side-title">{title === '' ? 'Untitled' : title}</span>
      <span className="side-note">
        {waiting > 0 && (
          <strong>{waiting === 1 ? '1 question' : `${String(waiting)} questions`}</strong>
        )}
        <time dateTime={new Date(updatedAt).toISOString()}>{formatWhen(updatedAt)}</time>
      </span>
    </button>
  );
}
