import { useCallback, useState } from 'react';

/** A data part as `onData` of `useChat` gives it. */
export interface StreamDataPart {
  type: string;
  data: unknown;
}

/** Tells that what a page shows may not be what the server has, and from where on. */
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

/** The newest ones are enough: hooks look at each when it comes. */
const MOST_KEPT = 100;

export interface StreamData {
  /** The newest 100 parts, oldest first. */
  data: readonly StreamDataPart[];
  /** For `useChat({ onData })`. */
  onData: (part: StreamDataPart) => void;
}

/**
 * Collects the data parts of a chat, which current versions of `useChat` hand out one by one.
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

export function isStreamResync(part: unknown): part is StreamResyncEvent {
  return (
    typeof part === 'object' &&
    part !== null &&
    'type' in part &&
    part.type === 'data-stream-resync'
  );
}
