import { useEffect, useRef, useState, type ReactElement, useCallback } from 'react';
import { formatWhen } from './format-when.js';
import { LoadFault, useLoaded } from './load-fault.js';
import { LIMITS } from '../../protocol/limits.js';
import type { Conversations } from '../../protocol/replies.js';
import { readFirst } from './api-client.js';

interface Props {
  /** Session id of the shown conversation. */
  current: string | undefined;
  /** Changes with every event in the conversation. */
  version: unknown;
  /** True if a narrow screen shows the list; a wide screen always does. */
  isOpen: boolean;
  onToggle: (isOpen: boolean) => void;
  onOpen: (sessionId: string) => void;
  onNewChat: () => void;
}

/** Lists the person's conversations, with a search over their titles. */
export function SideBar(props: Props): ReactElement {
  const { current, version, isOpen, onToggle, onOpen, onNewChat } = props;
  const [search, setSearch] = useState('');
  const { conversations, failed, again, loadMore } = useConversationList(search, version);

  const list = useRef<HTMLElement>(null);
  const close = (): void => list.current?.hidePopover();
  useEffect(() => {
    if (!isOpen) return;
    // The page behind the open list is inert, so the list takes the focus and gives it back.
    list.current?.querySelector('button')?.focus();
    return () => document.querySelector<HTMLElement>('[popovertarget=conversations]')?.focus();
  }, [isOpen]);

  return (
    <nav
      className="side"
      aria-label="Conversations"
      id="conversations"
      popover="auto"
      ref={list}
      onToggle={({ newState }) => onToggle(newState === 'open')}
    >
      <button
        type="button"
        className="primary"
        data-testid="side-new-chat"
        onClick={() => {
          close();
          onNewChat();
        }}
      >
        New chat
      </button>
      <input
        type="search"
        aria-label="Search conversations"
        placeholder="Search"
        data-testid="side-search"
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      {failed && <LoadFault text="The list could not be read." onAgain={again} />}
      {conversations === undefined && !failed && <p role="status">Loading…</p>}
      {conversations?.length === 0 && (
        <p>{search === '' ? 'No conversations yet.' : 'Nothing found.'}</p>
      )}
      <ul>
        {conversations?.map(({ sessionId, title, updatedAt, waiting }) => (
          <li key={sessionId}>
            <button
              type="button"
              className="plain"
              data-testid="side-conversation"
              data-conversation={sessionId}
              aria-current={sessionId === current ? 'page' : undefined}
              onClick={() => {
                close();
                onOpen(sessionId);
              }}
            >
              <span className="side-title">{title === '' ? 'Untitled' : title}</span>
              <small className="side-note">
                {waiting > 0 && (
                  <strong>{waiting === 1 ? '1 question' : `${String(waiting)} questions`}</strong>
                )}
                <time dateTime={new Date(updatedAt).toISOString()}>{formatWhen(updatedAt)}</time>
              </small>
            </button>
          </li>
        ))}
      </ul>
      {loadMore !== undefined && (
        <button type="button" data-testid="side-more" onClick={loadMore}>
          Older conversations
        </button>
      )}
    </nav>
  );
}

/** The search runs this long after the last keystroke, ms. */
const PAUSE_MS = 250;
const PAGE = 30;
/** Pages that a reload keeps: one request reads them. */
const KEPT_PAGES = Math.floor(LIMITS.waitingSessions / PAGE);

interface ConversationList {
  /** Undefined until the list has loaded. */
  conversations: readonly ListedConversation[] | undefined;
  failed: boolean;
  /** Reloads the list. */
  again: () => void;
  /** Loads the next page; undefined on the last one. */
  loadMore: (() => void) | undefined;
}

/**
 * Loads the person's conversations, and again when `version` changes or the window gets the focus,
 * then only the newest of them.
 */
export function useConversationList(search: string, version: unknown): ConversationList {
  const focused = useFocusCount();
  const now = { search, version, focused };
  const [opened, setOpened] = useState({ ...now, pages: 1 });
  const isReload = opened.version !== version || opened.focused !== focused;
  const kept = isReload ? Math.min(opened.pages, KEPT_PAGES) : opened.pages;
  const pages = opened.search === search ? kept : 1;
  const read = useCallback(
    (signal?: AbortSignal) => loadConversations(search, pages, signal),
    [search, pages, version, focused],
  );
  const { found, fault, load } = useLoaded(read, 'The list', PAUSE_MS);
  return {
    conversations: found?.entries,
    failed: fault !== undefined,
    again: () => void load(),
    loadMore: found?.hasMore === true ? () => setOpened({ ...now, pages: pages + 1 }) : undefined,
  };
}

function useFocusCount(): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const onFocus = (): void => setCount((before) => before + 1);
    window.addEventListener('focus', onFocus);
    return () => window.removeEventListener('focus', onFocus);
  }, []);
  return count;
}

type ListedConversation = Conversations['conversations'][number];

/** Loads the first pages of the conversations, the most recently changed first. */
function loadConversations(search: string, pages: number, signal?: AbortSignal) {
  const q = search.trim();
  const list = { url: '/api/conversations', name: 'conversations', query: q === '' ? {} : { q } };
  return readFirst<ListedConversation>([pages, PAGE], { ...list, signal: signal ?? null });
}
