import { useState } from 'react';
import type { FrontendSnapshot } from '../../protocol/http.js';
import type { ChatMessage } from '../client/chat-message.js';
import type { StreamDataPart } from './stream-data.js';
import { useSnapshot, type LoadedSnapshot, type SnapshotSource } from './use-snapshot.js';
import { useStreamResync, type ChatData, type OnResync } from './use-stream-resync.js';

export interface UseAutoResyncOptions<M extends ChatMessage> extends SnapshotSource {
  /** Of the chat. */
  setMessages: (messages: M[]) => void;
  /** Called before the snapshot is loaded again. */
  onResync?: OnResync | undefined;
}

export interface UseResumableChatOptions<M extends ChatMessage> extends UseAutoResyncOptions<M> {
  /** Called when a snapshot was loaded, after `setMessages`. */
  onSnapshotLoaded?: ((snapshot: FrontendSnapshot<Record<string, unknown>, M>) => void) | undefined;
}

export interface AutoResync<M extends ChatMessage> extends Pick<
  LoadedSnapshot<M>,
  'snapshot' | 'isLoading' | 'error'
> {
  hasResynced: boolean;
  resyncCount: number;
  /** For `useChat({ onData })`. */
  onData: (part: StreamDataPart) => void;
}

/**
 * Loads the messages again after each resync of the stream, when those on the page may be wrong.
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
  const [data, options] = args.length === 1 ? [undefined, args[0]] : args;
  return useResync(data, options, false);
}

/**
 * As `useAutoResync`; it loads the messages when the page opens, too.
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
  ...args:
    [data: ChatData, options: UseResumableChatOptions<M>] | [options: UseResumableChatOptions<M>]
): AutoResync<M> {
  const [data, options] = args.length === 1 ? [undefined, args[0]] : args;
  return useResync(data, options, true);
}

/**
 * The conversation as of a checkpoint, for reading.
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

function useResync<M extends ChatMessage>(
  data: ChatData,
  options: UseResumableChatOptions<M>,
  isWanted: boolean,
): AutoResync<M> {
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
