import { useCallback, useState } from 'react';

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

/** The newest ones are enough: hooks look at each part when it comes. */
const MOST_KEPT = 100;

export interface StreamData {
  /** The newest 100 parts, oldest first. */
  data: readonly StreamDataPart[];
  /** For `useChat({ onData })`. */
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

export function isStreamResync(part: unknown): part is StreamResyncEvent {
  return (
    typeof part === 'object' &&
    part !== null &&
    'type' in part &&
    part.type === 'data-stream-resync'
  );
}
