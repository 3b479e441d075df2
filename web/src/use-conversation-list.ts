import { useCallback, useEffect, useRef, useState } from 'react';
import type { Conversations } from '../../protocol/replies.js';
import { ask, pageFetch, type Fetch } from './api-client.js';

/** The search runs this long after the last keystroke, ms. */
const PAUSE_MS = 250;

export interface ConversationList {
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

  const again = useCallback(() => {
    setTries((before) => before + 1);
  }, []);
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
    const onFocus = (): void => {
      setCount((before) => before + 1);
    };
    window.addEventListener('focus', onFocus);
    return () => {
      window.removeEventListener('focus', onFocus);
    };
  }, []);
  return count;
}

export type ListedConversation = Conversations['conversations'][number];

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
