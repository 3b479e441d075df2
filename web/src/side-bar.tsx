import { useEffect, useRef, useState, type ReactElement, useCallback } from 'react';
import { formatWhen } from './format-when.js';
import { LoadFault } from './load-fault.js';
import { useClosing } from './use-closing.js';
import type { Conversations } from '../../protocol/replies.js';
import { ask, pageFetch, type Fetch } from './api-client.js';

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
          onChange={(event) => setSearch(event.target.value)}
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
      onClick={() => onOpen(sessionId)}
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

/** The search runs this long after the last keystroke, ms. */
const PAUSE_MS = 250;

interface ConversationList {
  /** Undefined until the list has loaded. */
  conversations: readonly ListedConversation[] | undefined;
  failed: boolean;
  /** Reloads the list. */
  again: () => void;
  /** Loads the next page; undefined on the last one. */
  loadMore: (() => void) | undefined;
}

/** Loads the person's conversations, and again when `version` changes or the window gets the focus. */
export function useConversationList(search: string, version: unknown): ConversationList {
  const [list, setList] = useState<readonly ListedConversation[]>();
  const [cursor, setCursor] = useState<string>();
  const [failed, setFailed] = useState(false);
  const [tries, setTries] = useState(0);
  const focused = useFocusCount();
  const reading = useRef<AbortSignal>(undefined);

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    // From now on, late pages of the previous list are dropped.
    reading.current = signal;
    const load = async (): Promise<void> => {
      try {
        const page = await loadConversations({ search }, signal);
        if (signal.aborted) return;
        setList(page.conversations);
        setCursor(page.cursor);
        setFailed(false);
      } catch {
        if (!signal.aborted) setFailed(true);
      }
    };
    const timer = setTimeout(() => void load(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [search, version, focused, tries]);

  const more = useCallback(async () => {
    const signal = reading.current;
    try {
      const page = await loadConversations({ search, cursor }, signal);
      if (signal?.aborted === true) return;
      setList((before = []) => append(before, page.conversations));
      setCursor(page.cursor);
    } catch {
      if (signal?.aborted !== true) setFailed(true);
    }
  }, [search, cursor]);

  const again = useCallback(() => setTries((before) => before + 1), []);
  const loadMore = cursor === undefined ? undefined : () => void more();
  return { conversations: list, failed, again, loadMore };
}

/** Drops duplicates: a conversation that changed between two page reads is in both pages. */
function append(
  before: readonly ListedConversation[],
  page: readonly ListedConversation[],
): readonly ListedConversation[] {
  const known = new Set(before.map(({ sessionId }) => sessionId));
  return [...before, ...page.filter(({ sessionId }) => !known.has(sessionId))];
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

/** Loads a page of conversations, the most recently changed first. */
async function loadConversations(
  { search, cursor }: { search: string; cursor?: string | undefined },
  signal?: AbortSignal,
  send: Fetch = pageFetch,
): Promise<Conversations> {
  const query = new URLSearchParams({ limit: '30' });
  if (search.trim() !== '') query.set('q', search.trim());
  if (cursor !== undefined) query.set('cursor', cursor);
  return ask<Conversations>(send, `/api/conversations?${query.toString()}`, {
    signal: signal ?? null,
  });
}
