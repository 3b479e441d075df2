import { useEffect, useState } from 'react';
import { loadConfig, loadSnapshot, Refusal, type PageConfig } from './api-client.js';
import { Conversation } from './conversation.js';
import { pauseWhileHidden } from './page-visibility.js';
import { retryDelay } from './retry-delay.js';
import type { Place } from './session-url.js';

export type Loaded =
  | { kind: 'loading'; reconnecting: boolean }
  | { kind: 'refused'; text: string }
  | { kind: 'ready'; config: PageConfig; conversation: Conversation };

async function load({ sessionId, agent }: Place, signal: AbortSignal): Promise<Loaded> {
  const [config, snapshot] = await Promise.all([
    loadConfig(fetch, signal),
    loadSnapshot(fetch, sessionId, signal),
  ]);
  const known = agent !== undefined && config.agents.includes(agent);
  const conversation = new Conversation({
    sessionId,
    agent: known ? agent : (config.defaultAgent ?? config.agents[0] ?? ''),
    snapshot,
  });
  return { kind: 'ready', config, conversation };
}

async function loadUntilAnswered(
  place: Place,
  signal: AbortSignal,
  show: (loaded: Loaded) => void,
): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      show(await load(place, signal));
      return;
    } catch (error) {
      if (error instanceof Refusal && !error.passing) {
        show({ kind: 'refused', text: error.message });
        return;
      }
      show({ kind: 'loading', reconnecting: true });
      await pauseWhileHidden(retryDelay(attempt), signal);
    }
  }
}

/** Loads the conversation of a place, for as long as it takes the server to answer. */
export function useConversation(place: Place): Loaded {
  const [loaded, setLoaded] = useState<Loaded>({ kind: 'loading', reconnecting: false });

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    void loadUntilAnswered(place, signal, (next) => {
      if (!signal.aborted) setLoaded(next);
    });
    return () => {
      controller.abort();
    };
    // The same session under another agent's name is the same conversation.
  }, [place.sessionId]);

  return loaded;
}
