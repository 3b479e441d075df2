import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { ToolContext } from '../../agents/index.js';
import type { StreamChunk } from '../../protocol/chunk.js';
import { HelixError, type ErrorCode } from '../../protocol/errors.js';
import type { StreamEvent } from '../../protocol/agent-server.js';
import { retryDelay } from '../../protocol/time.js';
import { RemoteExcess, RemoteReply } from './remote-reply.js';
import {
  RemoteRefusal,
  RemoteSubAgentClientToolUnsupportedError,
  RemoteSubAgentFailedError,
  RemoteSubAgentLostError,
  type RemoteAgentTransport,
} from './remote-transport.js';

export interface RemoteCall {
  transport: RemoteAgentTransport;
  agentType: string;
  message: string;
  state?: Record<string, unknown>;
  /** The call fails when the server cannot be reached for this long, in ms. */
  unreachableMs: number;
}

/** Codes of chunks that the protocol does not know, or that are too deep or too large. */
const UNSTORABLE: ReadonlySet<string> = new Set<ErrorCode>(['invalid_chunk', 'chunk_too_large']);

const RETRY = { firstMs: 100, mostMs: 2_000 };

/** The session of a call's remote run: the same for every attempt, and not to be guessed without the run's id. */
export function remoteSessionId(idempotencyKey: string): string {
  return `remote-${createHash('sha256').update(idempotencyKey).digest('base64url')}`;
}

/**
 * Executes a call on another server. A later attempt finds the run of the first.
 *
 * @returns the remote agent's output, else the text of its last step
 * @throws RemoteSubAgentLostError, RemoteSubAgentFailedError, RemoteSubAgentClientToolUnsupportedError
 */
export async function runRemotely(call: RemoteCall, context: ToolContext): Promise<unknown> {
  const { transport, agentType } = call;
  const { abortSignal, toolCallId } = context;
  const sessionId = remoteSessionId(context.idempotencyKey);
  const stop = (): void => {
    // After a hand-over another attempt continues the run; after a stop or a time-out, none does.
    if (context.isHandedOver()) return;
    transport.stop(sessionId, 'interrupt', 'the delegating run was stopped').catch(() => undefined);
  };
  abortSignal.addEventListener('abort', stop, { once: true });
  const named = { step: context.stepNumber, subAgentType: agentType, subSessionId: sessionId };
  const place = { ...named, toolCallId };
  const { agentId, agentType: ownType } = context;
  const frame = { ...named, agentId, agentType: ownType, callId: toolCallId };
  try {
    await context.forward([{ type: 'subagent_start', ...frame, timestamp: Date.now() }]);
    const result = await follow();
    const end = { type: 'subagent_end' as const, ...frame, timestamp: Date.now() };
    // A result that no chunk can hold is left out here; the call itself still returns it.
    if (!(await show({ ...end, result }))) await show({ ...end, result: null });
    return result;
  } finally {
    abortSignal.removeEventListener('abort', stop);
  }

  /** Writes a chunk; false if it cannot be stored. Another server's invalid chunk must not fail the call. */
  async function show(chunk: StreamChunk): Promise<boolean> {
    try {
      await context.forward([chunk]);
      return true;
    } catch (error) {
      if (HelixError.isInstance(error) && UNSTORABLE.has(error.code)) return false;
      throw error;
    }
  }

  async function follow(): Promise<unknown> {
    const { message, state } = call;
    const run = { sessionId, agentType, message, messageId: sessionId, state };
    const reply = new RemoteReply(place);
    let cursor = 0;
    let isStarted = false;
    let reachedAt = Date.now();
    for (let attempt = 1; ; attempt += 1) {
      abortSignal.throwIfAborted();
      try {
        if (!isStarted) await transport.start(run, abortSignal);
        isStarted = true;
        for await (const { id, event } of transport.follow(sessionId, cursor, abortSignal)) {
          reachedAt = Date.now();
          attempt = 1;
          reply.countEvent();
          const ending = await take(event, reply);
          if (ending !== undefined) return ending.result;
          cursor = id ?? cursor;
        }
      } catch (error) {
        abortSignal.throwIfAborted();
        await throwIfFinal(error, isStarted);
        if (Date.now() - reachedAt > call.unreachableMs) {
          throw new RemoteSubAgentLostError(agentType, 'status_unreachable', error);
        }
      }
      await setTimeout(retryDelay({ attempt, ...RETRY }), undefined, { signal: abortSignal });
    }
  }

  /** @throws the outcome of an error that another request would meet again */
  async function throwIfFinal(error: unknown, isStarted: boolean): Promise<void> {
    if (error instanceof RemoteExcess) {
      await giveUp('it sends too much');
      throw new RemoteSubAgentFailedError(agentType, `It sent ${error.message}.`);
    }
    if (error instanceof RemoteRefusal) {
      const { code } = error;
      if (isStarted) await giveUp('its events cannot be read');
      const lost = code === 'not_found' ? code : (`refused:${code}` as const);
      throw new RemoteSubAgentLostError(agentType, lost, error);
    }
    const isFailed = error instanceof RemoteSubAgentFailedError;
    if (isFailed || error instanceof RemoteSubAgentClientToolUnsupportedError) throw error;
  }

  /** Stops the remote run, because its caller no longer waits for it. */
  function giveUp(reason: string): Promise<void> {
    return transport.stop(sessionId, 'abort', reason).catch(() => undefined);
  }

  async function take(
    event: StreamEvent,
    reply: RemoteReply,
  ): Promise<{ result: unknown } | undefined> {
    switch (event.type) {
      case 'chunk': {
        const shown = reply.accept(event.chunk);
        if (shown !== undefined) await show(shown);
        return undefined;
      }
      case 'status': {
        if (event.status !== 'paused') return undefined;
        await giveUp('the calling server cannot ask a person');
        throw new RemoteSubAgentClientToolUnsupportedError(agentType);
      }
      case 'fail':
        throw new RemoteSubAgentFailedError(agentType, event.error);
      case 'end':
        return { result: event.finalOutput ?? reply.text };
      case 'truncated':
        return undefined;
    }
  }
}
