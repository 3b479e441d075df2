import { useEffect, useRef } from 'react';
import { clientCallsOf, lastReplyOf, toNewestStep, toolNameOf } from '../client/chat-message.js';
import { ClientCallRunner, type WaitingCall } from './client-call-runner.js';
import type { FailedCall, LeaseClientCall } from '../client/client-call.js';
import type { ChatWithTools, ToolHandlers, ToolOutput } from './tool-handlers.js';

export interface UseResumeClientToolsOptions {
  /** What `useChat` returned. It needs a `sendAutomaticallyWhen`, or the results stay here. */
  chat: ChatWithTools;
  /** By the name of the tool. */
  toolHandlers: ToolHandlers;
  /** Called with what a handler throws; the model gets it as the call's result. */
  onError?: ((error: unknown, call: FailedCall) => void) | undefined;
  /** Called before a handler runs. With it calls begin while the reply is still coming in. */
  lease?: LeaseClientCall | undefined;
  /** The snapshot's list of what waits: calls whose deadline is over are left alone. */
  pending?: readonly { toolCallId: string; deadline?: number }[] | undefined;
}

/**
 * Carries out the client tools that wait for this page: each call once, side by side, including calls that waited
 * when the page was loaded. Results are posted through the chat. Without a `lease` it begins when the reply has
 * ended, since a replay shows calls as open that were answered before.
 *
 * @example
 * import { useChat } from '@ai-sdk/react';
 * import { useHelixSendAutomaticallyWhen, useResumeClientTools } from 'helix-temporal/ai-sdk/react';
 *
 * export function Chat({ id }: { id: string }) {
 *   const chat = useChat({ id, sendAutomaticallyWhen: useHelixSendAutomaticallyWhen(id) });
 *   useResumeClientTools({ chat, toolHandlers: { getLocation: () => ({ city: 'Rome' }) } });
 *   return <p>{chat.messages.length} messages</p>;
 * }
 */
export function useResumeClientTools(options: UseResumeClientToolsOptions): void {
  const { id: sessionId } = options.chat;
  const held = useRef<{ sessionId: string; runner: ClientCallRunner } | undefined>(undefined);
  const latest = useRef(options);
  const isSettled = useRef(false);
  const leaving = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);

  useEffect(() => {
    clearTimeout(leaving.current);
    if (held.current?.sessionId !== sessionId) {
      held.current?.runner.abort();
      held.current = { sessionId, runner: new ClientCallRunner(sessionId) };
    }
    const { runner } = held.current;
    // React's strict mode leaves at once and comes back. A chat that is stopped by that takes no result
    // in the same moment, so nothing is begun before it is over.
    const settling = setTimeout(() => {
      isSettled.current = true;
      takeUp(runner, latest.current);
    });
    return () => {
      clearTimeout(settling);
      isSettled.current = false;
      leaving.current = setTimeout(() => {
        runner.abort();
        if (held.current?.runner === runner) held.current = undefined;
      });
    };
  }, [sessionId]);

  useEffect(() => {
    latest.current = options;
    if (isSettled.current && held.current !== undefined) takeUp(held.current.runner, options);
  });
}

function takeUp(runner: ClientCallRunner, options: UseResumeClientToolsOptions): void {
  const { chat, toolHandlers, onError, lease, pending } = options;
  const mayBegin = lease === undefined ? chat.status === 'ready' : chat.status !== 'submitted';
  if (!mayBegin) return;
  runner.run(findWaiting(chat, pending), {
    toolHandlers,
    onError,
    lease,
    addToolOutput: chat.addToolOutput as (output: ToolOutput) => unknown,
  });
}

function findWaiting(
  { messages }: ChatWithTools,
  pending: UseResumeClientToolsOptions['pending'],
): WaitingCall[] {
  const reply = lastReplyOf(messages);
  if (reply === undefined) return [];
  const now = Date.now();
  return clientCallsOf(toNewestStep(reply))
    .filter(({ state, approval }) => state === 'input-available' && approval === undefined)
    .filter(({ toolCallId }) => {
      const known = pending?.find((question) => question.toolCallId === toolCallId);
      return (known?.deadline ?? Infinity) > now;
    })
    .map((part) => ({
      toolName: toolNameOf(part),
      toolCallId: part.toolCallId,
      input: part.input,
    }));
}
