import { useCallback, useEffect, useRef, useState } from 'react';
import type { FrontendSnapshot } from '../../protocol/replies.js';
import type { ChatMessage } from '../client/chat-message.js';
import { ChatRequestError } from '../client/errors.js';
import { useLatest } from './use-latest.js';

/** A data part as `useChat` passes it to `onData`. */
export interface StreamDataPart {
  type: string;
  data: unknown;
}

/** The messages on the page may differ from the server's, from `fromSequence` on. */
export interface StreamResyncEvent {
  type: 'data-stream-resync';
  data: {
    checkpointId: string | null;
    stepCount: number;
    messageCount: number;
    fromSequence: number;
    reason: 'crash_recovery' | 'rollback' | 'branch' | 'retry';
  };
}

const MAX_KEPT = 100;

export interface StreamData {
  /** Newest 100 parts, oldest first. */
  data: readonly StreamDataPart[];
  /** Pass it to `useChat({ onData })`. */
  onData: (part: StreamDataPart) => void;
}

/**
 * Collects the data parts of a chat, which current versions of `useChat` pass on one by one.
 *
 * @example
 * import { useChat } from '@ai-sdk/react';
 * import { useStreamData } from 'helix-temporal/ai-sdk/react';
 *
 * export function Chat() {
 *   const { data, onData } = useStreamData();
 *   const { messages } = useChat({ onData });
 *   return <p>{messages.length} messages, {data.length} data parts</p>;
 * }
 */
export function useStreamData(): StreamData {
  const [data, setData] = useState<readonly StreamDataPart[]>([]);
  const onData = useCallback((part: StreamDataPart) => {
    setData((before) => [...before, part].slice(-MAX_KEPT));
  }, []);
  return { data, onData };
}

function isStreamResync(part: unknown): part is StreamResyncEvent {
  return (
    typeof part === 'object' &&
    part !== null &&
    'type' in part &&
    part.type === 'data-stream-resync'
  );
}

type OnResync = (event: StreamResyncEvent) => void;

/** Data parts of a chat, which older versions of `useChat` returned as `data`. */
type ChatData = readonly unknown[] | undefined;

/**
 * Calls `onResync` once for each resync of the stream, however often it is replayed. The events
 * come from `data`, or through the returned `onData` if `useChat` gets it.
 *
 * @example
 * import { useChat } from '@ai-sdk/react';
 * import { useStreamResync } from 'helix-temporal/ai-sdk/react';
 *
 * export function Chat() {
 *   const { onData } = useStreamResync(undefined, () => location.reload());
 *   const { messages } = useChat({ onData });
 *   return <p>{messages.length} messages</p>;
 * }
 */
export function useStreamResync(
  ...args: [data: ChatData, onResync: OnResync] | [onResync: OnResync]
): { onData: (part: StreamDataPart) => void } {
  const [data, onResync] = args.length === 1 ? [undefined, args[0]] : args;
  const latest = useLatest(onResync);
  const reported = useRef(new Set<unknown>());
  const report = useCallback((part: unknown) => {
    if (!isStreamResync(part)) return;
    // A reply that breaks off where its reader's token expires names no position.
    const key = part.data.fromSequence === 0 ? part : JSON.stringify(part.data);
    if (reported.current.has(key)) return;
    reported.current.add(key);
    latest.current(part);
  }, []);
  useEffect(() => {
    for (const part of data ?? []) report(part);
  });
  return { onData: report };
}

export interface ResyncState {
  hasResynced: boolean;
  resyncCount: number;
  lastResync: StreamResyncEvent | undefined;
}

/**
 * Counts the resyncs of a chat, without reloading anything.
 *
 * @example
 * import { useChat } from '@ai-sdk/react';
 * import { useResyncState } from 'helix-temporal/ai-sdk/react';
 *
 * export function Chat() {
 *   const { onData, resyncCount } = useResyncState();
 *   const { messages } = useChat({ onData });
 *   return <p key={resyncCount}>{messages.length} messages</p>;
 * }
 */
export function useResyncState(data?: ChatData): ResyncState & ReturnType<typeof useStreamResync> {
  const [resyncs, setResyncs] = useState({
    count: 0,
    last: undefined as ResyncState['lastResync'],
  });
  const { onData } = useStreamResync(data, (last) => {
    setResyncs(({ count }) => ({ count: count + 1, last }));
  });
  const { count: resyncCount, last: lastResync } = resyncs;
  return { hasResynced: resyncCount > 0, resyncCount, lastResync, onData };
}

export interface UseAutoResyncOptions<M extends ChatMessage> extends SnapshotSource {
  setMessages: (messages: M[]) => void;
  onResync?: OnResync | undefined;
}

export interface UseResumableChatOptions<M extends ChatMessage> extends UseAutoResyncOptions<M> {
  /** Called after a snapshot was loaded and passed to `setMessages`. */
  onSnapshotLoaded?: ((snapshot: FrontendSnapshot<Record<string, unknown>, M>) => void) | undefined;
}

export interface AutoResync<M extends ChatMessage> extends Pick<
  LoadedSnapshot<M>,
  'snapshot' | 'isLoading' | 'error'
> {
  hasResynced: boolean;
  resyncCount: number;
  /** Pass it to `useChat({ onData })`. */
  onData: (part: StreamDataPart) => void;
}

/**
 * Loads the messages again after each resync of the stream, since those shown may be wrong.
 *
 * @example
 * import { useChat } from '@ai-sdk/react';
 * import { useAutoResync } from 'helix-temporal/ai-sdk/react';
 *
 * export function Chat({ id }: { id: string }) {
 *   const { messages, setMessages } = useChat({ id, onData: (part) => onData(part) });
 *   const { onData } = useAutoResync({ snapshotUrl: `/api/chat/${id}/snapshot`, setMessages });
 *   return <p>{messages.length} messages</p>;
 * }
 */
export function useAutoResync<M extends ChatMessage>(
  ...args: [data: ChatData, options: UseAutoResyncOptions<M>] | [options: UseAutoResyncOptions<M>]
): AutoResync<M> {
  return useResync(args, false);
}

/**
 * Works like `useAutoResync`, and also loads the messages when the page opens.
 *
 * @example
 * import { useChat } from '@ai-sdk/react';
 * import { useResumableChat } from 'helix-temporal/ai-sdk/react';
 *
 * export function Chat({ id }: { id: string }) {
 *   const { messages, setMessages } = useChat({ id, resume: true, onData: (part) => onData(part) });
 *   const { onData, isLoading } = useResumableChat({
 *     snapshotUrl: `/api/chat/${id}/snapshot`,
 *     setMessages,
 *   });
 *   return <p>{isLoading ? 'Loading' : `${String(messages.length)} messages`}</p>;
 * }
 */
export function useResumableChat<M extends ChatMessage>(
  ...args: ResumableChatArgs<M>
): AutoResync<M> {
  return useResync(args, true);
}

/**
 * Loads the conversation as of a checkpoint, read-only.
 *
 * @example
 * import { useCheckpointSnapshot } from 'helix-temporal/ai-sdk/react';
 *
 * export function Past({ id, checkpointId }: { id: string; checkpointId: string }) {
 *   const { snapshot } = useCheckpointSnapshot({ snapshotUrl: `/api/chat/${id}/snapshot`, checkpointId });
 *   return <p>{snapshot?.messages.length ?? 0} messages</p>;
 * }
 */
export function useCheckpointSnapshot<M extends ChatMessage>({
  snapshotUrl,
  checkpointId,
  fetch,
}: SnapshotSource & { checkpointId: string | undefined }): LoadedSnapshot<M> {
  const separator = snapshotUrl.includes('?') ? '&' : '?';
  const query = `checkpointId=${encodeURIComponent(checkpointId ?? '')}`;
  return useSnapshot<M>(
    { snapshotUrl: `${snapshotUrl}${separator}${query}`, fetch },
    checkpointId !== undefined,
  );
}

type ResumableChatArgs<M extends ChatMessage> =
  [data: ChatData, options: UseResumableChatOptions<M>] | [options: UseResumableChatOptions<M>];

function useResync<M extends ChatMessage>(
  args: ResumableChatArgs<M>,
  isWanted: boolean,
): AutoResync<M> {
  const [data, options] = args.length === 1 ? [undefined, args[0]] : args;
  const [resyncCount, setResyncCount] = useState(0);
  const { snapshot, isLoading, error, reload } = useSnapshot<M>(options, isWanted, (loaded) => {
    options.setMessages(loaded.messages);
    options.onSnapshotLoaded?.(loaded);
  });
  const { onData } = useStreamResync(data, (event) => {
    setResyncCount((before) => before + 1);
    options.onResync?.(event);
    void reload();
  });
  return { snapshot, isLoading, error, hasResynced: resyncCount > 0, resyncCount, onData };
}

export interface SnapshotSource {
  snapshotUrl: string;
  /** Requests the snapshot; for the application's own headers, and for tests. */
  fetch?: typeof globalThis.fetch | undefined;
}

export interface LoadedSnapshot<M extends ChatMessage> {
  snapshot: FrontendSnapshot<Record<string, unknown>, M> | undefined;
  isLoading: boolean;
  error: Error | undefined;
  /** Loads again. Resolves to undefined if that failed, or the URL has changed meanwhile. */
  reload: () => Promise<FrontendSnapshot<Record<string, unknown>, M> | undefined>;
}

/**
 * Loads a snapshot at once, when its URL changes, and on demand.
 *
 * @param isWanted false to load on demand only
 */
function useSnapshot<M extends ChatMessage>(
  { snapshotUrl, fetch: send }: SnapshotSource,
  isWanted: boolean,
  onLoaded?: (snapshot: FrontendSnapshot<Record<string, unknown>, M>) => void,
): LoadedSnapshot<M> {
  const [state, setState] = useState<Omit<LoadedSnapshot<M>, 'reload'>>({
    snapshot: undefined,
    isLoading: isWanted,
    error: undefined,
  });
  const latest = useLatest({ snapshotUrl, send, onLoaded });
  const round = useRef(0);

  const reload = useCallback(async () => {
    const own = (round.current += 1);
    setState((before) => ({ ...before, isLoading: true }));
    try {
      const { snapshotUrl: url, send: fetchNow = globalThis.fetch } = latest.current;
      const response = await fetchNow(url, { cache: 'no-store' });
      if (!response.ok) throw new ChatRequestError(response.status, await response.text());
      const snapshot = (await response.json()) as FrontendSnapshot<Record<string, unknown>, M>;
      if (round.current !== own) return undefined;
      setState({ snapshot, isLoading: false, error: undefined });
      latest.current.onLoaded?.(snapshot);
      return snapshot;
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause));
      if (round.current === own) {
        setState((before) => ({ ...before, isLoading: false, error }));
      }
      return undefined;
    }
  }, []);

  useEffect(() => {
    if (isWanted) void reload();
    return () => {
      // A reply from now on belongs to a page that is not shown any more.
      round.current += 1;
      setState((before) => ({ ...before, isLoading: false }));
    };
  }, [snapshotUrl, isWanted, reload]);

  return { ...state, reload };
}
