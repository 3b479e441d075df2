import { useEffect, useRef } from 'react';
import {
  clientCallsOf,
  lastReplyOf,
  toNewestStep,
  type ChatMessage,
} from '../client/chat-message.js';
import type { FailedCall, LeaseClientCall } from '../client/lease-call.js';
import { pause } from '../client/patience.js';
import { toolNameOf } from '../parts/ui-message.js';

export interface ToolHandlerContext {
  toolCallId: string;
  /** Fires when the result is not needed any more: the page shows another session or was closed. */
  abortSignal: AbortSignal;
}

/** Carries out a client tool: the return value, or an error's message, is the result. */
export type ToolHandler = {
  // A method's parameters are bivariant, so a handler may name its tool's input type.
  run(input: unknown, context: ToolHandlerContext): unknown;
}['run'];

export type ToolHandlers = Readonly<Record<string, ToolHandler>>;

/** The fields of the result of `useChat`, in either major, that the hook uses. */
export interface ChatWithTools {
  id: string;
  messages: readonly ChatMessage[];
  status: string;
  addToolOutput: (output: never) => unknown;
}

/** The result that is posted for a call. */
type ToolOutput = { tool: string; toolCallId: string } & (
  { output: unknown } | { state: 'output-error'; errorText: string }
);

export interface UseResumeClientToolsOptions {
  /** The result of `useChat`. It needs a `sendAutomaticallyWhen`, or the results are not sent. */
  chat: ChatWithTools;
  toolHandlers: ToolHandlers;
  /** Called with a handler's error, whose message the model gets as the call's result. */
  onError?: ((error: unknown, call: FailedCall) => void) | undefined;
  /** Called before a handler runs. With it calls begin while the reply still arrives. */
  lease?: LeaseClientCall | undefined;
  /** The snapshot's pending calls; those whose deadline has passed are skipped. */
  pending?: readonly { toolCallId: string; deadline?: number }[] | undefined;
}

/**
 * Carries out the client tools that wait for this page: each call once, concurrently, including
 * calls that waited when the page was loaded. Results are posted through the chat. Without a
 * `lease` calls begin after the reply has ended, since a replay shows answered calls as open.
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
    // React's strict mode unmounts and mounts again at once. The chat that this stops takes no
    // result in the same moment, so calls begin only afterwards.
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
  const { chat, lease, pending } = options;
  const mayBegin = lease === undefined ? chat.status === 'ready' : chat.status !== 'submitted';
  if (!mayBegin) return;
  runner.run(findWaiting(chat, pending), options);
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

interface WaitingCall extends FailedCall {
  input: unknown;
}

/** Carries out the client tools of one session, each call once, concurrently. */
class ClientCallRunner {
  readonly #sessionId: string;
  readonly #begun = new Set<string>();
  readonly #leave = new AbortController();
  /** The page's options, which may change from one render to the next. */
  #options: UseResumeClientToolsOptions | undefined;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  /** Begins the calls that have a handler and have not begun before. */
  run(calls: readonly WaitingCall[], options: UseResumeClientToolsOptions): void {
    this.#options = options;
    for (const call of calls) {
      const { toolCallId } = call;
      if (this.#begun.has(toolCallId) || !Object.hasOwn(options.toolHandlers, call.toolName))
        continue;
      this.#begun.add(toolCallId);
      void this.#carryOut(call, options);
    }
  }

  /** Aborts calls in progress; nothing is posted from now on. */
  abort(): void {
    this.#leave.abort();
  }

  async #carryOut(call: WaitingCall, options: UseResumeClientToolsOptions): Promise<void> {
    const { toolCallId } = call;
    const over = new AbortController();
    const signal = AbortSignal.any([this.#leave.signal, over.signal]);
    try {
      if (!(await this.#mayRun(call, options.lease, signal))) return;
      const result = await this.#handle(call, options);
      if (result !== undefined) await options.chat.addToolOutput(result as never);
    } catch (error) {
      if (this.#leave.signal.aborted) return;
      // The lease request failed; the next render tries again.
      this.#begun.delete(toolCallId);
      this.#options?.onError?.(error, { toolName: call.toolName, toolCallId });
    } finally {
      over.abort();
    }
  }

  /** Returns the result to post for the call; undefined if it is not needed any more. */
  async #handle(
    { toolCallId, toolName: tool, input }: WaitingCall,
    { toolHandlers }: UseResumeClientToolsOptions,
  ): Promise<ToolOutput | undefined> {
    const { signal: abortSignal } = this.#leave;
    let output: ToolOutput;
    try {
      const result = await toolHandlers[tool]?.(input, { toolCallId, abortSignal });
      // The chat would not post a result of undefined.
      output = { tool, toolCallId, output: result ?? null };
    } catch (error) {
      if (abortSignal.aborted) return undefined;
      this.#options?.onError?.(error, { toolName: tool, toolCallId });
      output = { tool, toolCallId, state: 'output-error', errorText: toErrorText(error) };
    }
    return abortSignal.aborted ? undefined : output;
  }

  /** Returns true if this page may run the call; without a lease every page may. */
  async #mayRun(
    { toolName, toolCallId }: FailedCall,
    lease: LeaseClientCall | undefined,
    abortSignal: AbortSignal,
  ): Promise<boolean> {
    if (lease === undefined) return true;
    const call = { toolName, toolCallId, sessionId: this.#sessionId, abortSignal };
    for (;;) {
      const reply = await lease(call);
      if (abortSignal.aborted) return false;
      if (typeof reply === 'boolean') return reply;
      await pause(reply, abortSignal);
    }
  }
}

function toErrorText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text === '' ? 'The tool failed.' : text;
}
