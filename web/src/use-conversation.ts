import type { UIMessage } from 'ai';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { ChatRequestError, createResumableChatTransport } from '../../ai-sdk/client/index.js';
import { useHelixChat } from '../../ai-sdk/react/index.js';
import { ask, chatUrl, Refusal, request, type PageConfig } from './api-client.js';
import { Conversation, type PageChat } from './conversation.js';
import { describeRefusal } from './failure.js';
import type { Place } from './use-place.js';

export type Loaded =
  | { kind: 'loading'; reconnecting: boolean }
  | { kind: 'refused'; text: string; again: () => void }
  | { kind: 'ready'; config: PageConfig; conversation: Conversation };

const AGAIN_MS = 1_000;

/** Loads the conversation of an address; retries until the server answers. */
export function useConversation(place: Place): Loaded {
  const [loaded, setLoaded] = useState<Loaded>({ kind: 'loading', reconnecting: false });
  const [tries, setTries] = useState(0);

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const again = (): void => {
      setLoaded({ kind: 'loading', reconnecting: false });
      setTries((before) => before + 1);
    };
    void loadUntilAnswered(place, signal, (next) => {
      if (!signal.aborted) setLoaded(next.kind === 'refused' ? { ...next, again } : next);
    });
    return () => controller.abort();
    // Another agent in the address does not change the conversation.
  }, [place.sessionId, tries]);

  return loaded;
}

async function loadUntilAnswered(
  { sessionId, agent }: Place,
  signal: AbortSignal,
  show: (loaded: Exclude<Loaded, { kind: 'refused' }> | { kind: 'refused'; text: string }) => void,
): Promise<void> {
  const { loadSnapshot } = createResumableChatTransport({
    giveUpAfterMs: Infinity,
    fetch: (input, init) => request(fetch, input, init),
    onConnectionChange: (isConnected) => show({ kind: 'loading', reconnecting: !isConnected }),
  });
  for (;;) {
    try {
      const snapshot = await loadSnapshot<UIMessage>(sessionId, signal);
      const config = await ask<PageConfig>(fetch, '/api/config', { signal });
      const isKnown = agent !== undefined && config.agents.includes(agent);
      const conversation = new Conversation({
        sessionId,
        agent: isKnown ? agent : (config.defaultAgent ?? config.agents[0] ?? ''),
        snapshot,
        cards: config.cards,
        files: config.files,
      });
      show({ kind: 'ready', config, conversation });
      return;
    } catch (error) {
      if (signal.aborted) return;
      const refusal = toRefusal(error);
      if (refusal !== undefined) {
        show({ kind: 'refused', text: refusal });
        return;
      }
      show({ kind: 'loading', reconnecting: true });
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}

/** Returns the reason of a refusal; undefined if a retry may succeed. */
function toRefusal(error: unknown): string | undefined {
  if (error instanceof ChatRequestError && error.statusCode < 500) return describeRefusal(error);
  const isFinal = error instanceof Refusal && error.statusCode < 500 && error.statusCode !== 429;
  return isFinal ? error.message : undefined;
}

export function usePageChat(conversation: Conversation): PageChat {
  const { page, sessionId, chatOptions } = conversation;
  const isBound = useSyncExternalStore(page.subscribe, () => page.get().bound);
  const isVisible = usePageVisible();
  const chat = useHelixChat({
    ...chatOptions,
    eventsUrl: isBound && isVisible ? chatUrl(sessionId, 'events') : undefined,
  });
  useEffect(() => {
    conversation.chat = chat;
  });
  useEffect(
    () => () => {
      void conversation.chat.stop();
    },
    [conversation],
  );
  return chat;
}

function usePageVisible(): boolean {
  return useSyncExternalStore(subscribe, () => document.visibilityState === 'visible');
}

function subscribe(onChange: () => void): () => void {
  document.addEventListener('visibilitychange', onChange);
  return () => document.removeEventListener('visibilitychange', onChange);
}
