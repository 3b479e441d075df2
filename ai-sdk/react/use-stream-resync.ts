import { useCallback, useEffect, useRef, useState } from 'react';
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

/** Number of kept parts; hooks look at each part when it arrives. */
const MOST_KEPT = 100;

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
    setData((before) => [...before, part].slice(-MOST_KEPT));
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

export type OnResync = (event: StreamResyncEvent) => void;

/** Data parts of a chat, which older versions of `useChat` returned as `data`. */
export type ChatData = readonly unknown[] | undefined;

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
  const reported = useRef(new Set<string>());
  const report = useCallback((part: unknown) => {
    if (!isStreamResync(part)) return;
    const key = JSON.stringify(part.data);
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
  const [state, setState] = useState<ResyncState>({
    hasResynced: false,
    resyncCount: 0,
    lastResync: undefined,
  });
  const { onData } = useStreamResync(data, (event) => {
    setState(({ resyncCount }) => ({
      hasResynced: true,
      resyncCount: resyncCount + 1,
      lastResync: event,
    }));
  });
  return { ...state, onData };
}
