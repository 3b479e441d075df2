import { useCallback, useEffect, useRef, useState } from 'react';
import type { FrontendSnapshot } from '../../protocol/http.js';
import { ChatRequestError } from '../client/chat-request-error.js';
import type { ChatMessage } from '../client/chat-message.js';

export interface SnapshotSource {
  snapshotUrl: string;
  /** For headers of the application, and for tests. */
  fetch?: typeof globalThis.fetch | undefined;
}

export interface LoadedSnapshot<M extends ChatMessage> {
  snapshot: FrontendSnapshot<Record<string, unknown>, M> | undefined;
  isLoading: boolean;
  /** Why the newest try failed. */
  error: Error | undefined;
  /** Loads again. Undefined if that failed, or the URL has become another meanwhile. */
  reload: () => Promise<FrontendSnapshot<Record<string, unknown>, M> | undefined>;
}

/**
 * Loads a snapshot, again when its URL changes, and on demand.
 *
 * @param isWanted false to load on demand only
 */
export function useSnapshot<M extends ChatMessage>(
  { snapshotUrl, fetch: send }: SnapshotSource,
  isWanted: boolean,
  onLoaded?: (snapshot: FrontendSnapshot<Record<string, unknown>, M>) => void,
): LoadedSnapshot<M> {
  const [state, setState] = useState<Omit<LoadedSnapshot<M>, 'reload'>>({
    snapshot: undefined,
    isLoading: isWanted,
    error: undefined,
  });
  const latest = useRef({ snapshotUrl, send, onLoaded, round: 0 });
  useEffect(() => {
    Object.assign(latest.current, { snapshotUrl, send, onLoaded });
  });

  const reload = useCallback(async () => {
    const round = (latest.current.round += 1);
    setState((before) => ({ ...before, isLoading: true }));
    try {
      const { snapshotUrl: url, send: fetchNow = globalThis.fetch } = latest.current;
      const response = await fetchNow(url, { cache: 'no-store' });
      if (!response.ok) throw new ChatRequestError(response.status, await response.text());
      const snapshot = (await response.json()) as FrontendSnapshot<Record<string, unknown>, M>;
      if (latest.current.round !== round) return undefined;
      setState({ snapshot, isLoading: false, error: undefined });
      latest.current.onLoaded?.(snapshot);
      return snapshot;
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause));
      if (latest.current.round === round) {
        setState((before) => ({ ...before, isLoading: false, error }));
      }
      return undefined;
    }
  }, []);

  useEffect(() => {
    if (isWanted) void reload();
    return () => {
      // A reply that comes now belongs to a page that is not shown any more.
      latest.current.round += 1;
    };
  }, [snapshotUrl, isWanted, reload]);

  return { ...state, reload };
}
