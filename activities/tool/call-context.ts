import { createAgentState, type AgentState } from '../../agents/agent-state.js';
import type { AgentDefinition } from '../../agents/definitions.js';
import { StateError, ToolError } from '../../agents/tool-error.js';
import type { ToolCallIdentity, ToolContext, ToolPeople } from '../../agents/tool-context.js';
import type { CallActivityRef, ToolWork } from '../../protocol/temporal.js';
import {
  StreamChunkSchema,
  type JSONPatchOperation,
  type StreamChunk,
} from '../../protocol/chunk.js';
import { HelixError } from '../../protocol/errors.js';
import { isReservedEventName, rootOf } from '../../protocol/ids.js';
import { findJsonFault, LIMITS } from '../../protocol/limits.js';
import { toPrincipal } from '../../protocol/actor.js';
import { formatWebhookToken } from '../../protocol/answers.js';
import { isShownUrl } from '../../protocol/reply-fold.js';
import type { CallPermission } from '../../store/contract/calls.js';
import { toCheckedJson } from '../../store/record/stored-json.js';
import type { Attempt } from '../attempt.js';
import type { ChunkWriter } from '../chunk-writer.js';
import type { ActivityDeps } from '../deps.js';
import { toBase } from './tool-outcome.js';

/** Context of a running tool, and the effects that the tool leaves. */
export interface CallContext {
  context: ToolContext;
  /** Address that answers the call, if its tool has a webhook. */
  webhookUrl: string;
  /** Returns changes of the agent's state that are not recorded yet. */
  changes: () => JSONPatchOperation[];
  /** True once the tool has emitted an event that history keeps. */
  hasEvents: () => boolean;
  /** Ends the context; later output and changes of the tool do not count. */
  close: () => void;
}

/** Returns the call's identity, which all its attempts share. */
export function toCallIdentity(
  { sessionId, runId, agent: agentType, toolCallId }: CallActivityRef,
  { requester, approver }: Pick<CallPermission, 'requester' | 'approver'>,
): ToolCallIdentity & ToolPeople & Pick<ToolContext, 'idempotencyKey'> {
  const idempotencyKey = `${runId}/${toolCallId}`;
  const people = { requester: toPrincipal(requester), approver: toPrincipal(approver) };
  return { sessionId, runId, agentId: sessionId, agentType, toolCallId, idempotencyKey, ...people };
}

/** Shortest retention of closed executions in Temporal, ms. */
const HISTORY_MS = 3_600_000;

interface CallContextInput {
  ref: CallActivityRef;
  agent: AgentDefinition;
  attempt: Attempt;
  abortSignal: AbortSignal;
  chunks: ChunkWriter;
  permission: CallPermission;
  /** Agent and step of the message that shows the call, if they are not its own. */
  shown: { agentId?: string; step?: number };
}

/** @throws StateError if the stored state does not fit the agent's schema */
export function openCallContext(
  { services, toolWork, publicUrl = '' }: ActivityDeps,
  { ref, agent, attempt, abortSignal, chunks, permission, shown }: CallContextInput,
): CallContext {
  const { stateSchema } = agent;
  const { execution } = permission;
  const state: AgentState | undefined =
    stateSchema === undefined ? undefined : createAgentState(stateSchema, permission.state ?? {});
  let isOver = false;
  let hasEvents = false;
  let hasWork = false;
  let eventBytes = 0;
  const { toolCallId } = ref;
  const { toolName, kind } = permission.call;
  const preliminary = createPreliminary((result) => {
    const base = { type: 'tool_output_preliminary' as const, ...toBase(ref), ...shown };
    // The mark matches the result, which replaces this chunk.
    const mark = kind === 'server' ? { providerExecuted: true } : {};
    chunks.push([{ ...base, toolCallId, toolName, result, ...mark }]);
  });

  const isHandedOver = (): boolean => attempt.cancelled() || attempt.cutReason() === 'fenced';

  function stateOfAgent(): AgentState {
    if (state !== undefined) return state;
    throw new StateError('state_missing', `The agent "${agent.name}" has no stateSchema.`);
  }

  /** Refuses an unfit chunk here, as the tool's error and not the chunk writer's. */
  function bytesOf(chunk: StreamChunk): number {
    if (isOver) throw new Error('the call is over');
    const [json = ''] = toCheckedJson([chunk]);
    return Buffer.byteLength(json);
  }

  let taken = 0;
  const { hook: secret } = permission;
  const token = secret && formatWebhookToken({ sessionId: ref.sessionId, toolCallId, secret });

  const context: ToolContext = {
    ...toCallIdentity(ref, permission),
    attempt: execution,
    abortSignal,
    emit: allowUnawaited(async (eventName, data) => {
      const chunk: StreamChunk = { type: 'custom', ...toBase(ref), eventName, data: data ?? null };
      eventBytes += bytesOf(chunk);
      const isKept = eventBytes <= LIMITS.callEventBytes;
      chunks.push([isKept ? chunk : { ...chunk, transient: true }]);
      hasEvents ||= isKept;
      await chunks.flush();
    }),
    getState: <State>() => stateOfAgent().get() as State,
    updateState: (change) => {
      if (isOver) throw new Error('the call is over');
      stateOfAgent().update(change, ({ patches, undo }) => {
        const base = { type: 'state_patch' as const, ...toBase(ref) };
        const chunk: StreamChunk = { ...base, patches, undo: JSON.stringify(undo) };
        bytesOf(chunk);
        chunks.push([chunk]);
      });
    },
    showPreliminary: preliminary.show,
    stepNumber: ref.step,
    forward: allowUnawaited(async (forwarded) => {
      if (isOver) throw new Error('the call is over');
      chunks.push(checkForwarded(ref.sessionId, forwarded));
      await chunks.flush();
    }),
    isHandedOver,
    services,
    ...(toolWork && {
      temporal: {
        execute: async (work, input) => {
          if (hasWork) throw new ToolError('second_work', secondText(work));
          hasWork = true;
          const { sessionId, runId, idempotencyKey, requester, approver } = context;
          const people = { ...(requester && { requester }), ...(approver && { approver }) };
          const called = { sessionId, runId, toolCallId, idempotencyKey, ...people };
          return toolWork(
            { work, input, call: called },
            {
              signal: abortSignal,
              isHandedOver,
              isRepeated: execution > 1,
              mayBeGone: execution > 1 && attempt.ageMs() > HISTORY_MS,
            },
          );
        },
      },
    }),
  };
  return {
    context,
    webhookUrl: `${publicUrl}/api/hooks/${token ?? ''}`,
    changes: () => {
      const all = state?.patches() ?? [];
      const changes = all.slice(taken);
      taken = all.length;
      return changes;
    },
    hasEvents: () => hasEvents,
    close: () => {
      isOver = true;
      preliminary.close();
    },
  };
}

/** Lets a tool call a function without awaiting it: an unhandled rejection would end the worker. */
function allowUnawaited<Given extends unknown[]>(
  act: (...given: Given) => Promise<void>,
): (...given: Given) => Promise<void> {
  return (...given) => {
    const done = act(...given);
    done.catch(() => undefined);
    return done;
  };
}

/** A call names its work, so a second piece of work would get the first one's result. */
function secondText({ name }: ToolWork): string {
  return `A call executes one activity or operation. "${name}" is a second one and was not started.`;
}

/**
 * Checks chunks that a tool forwards from an external agent. They may speak for any agent except
 * those of this conversation, whose output and run states only the runtime writes. An event may not
 * use a reserved name, and an address may not run as a script in the page.
 *
 * @throws HelixError `invalid_chunk`, `chunk_too_large`; then none is taken
 */
export function checkForwarded(
  sessionId: string,
  forwarded: readonly StreamChunk[],
): readonly StreamChunk[] {
  const chunks = forwarded.map((chunk) => {
    const parsed = StreamChunkSchema.safeParse(chunk);
    if (!parsed.success) throw new HelixError('invalid_chunk', 'This is no chunk of a stream.');
    checkAuthor(sessionId, parsed.data);
    checkShown(parsed.data);
    return withoutStoreFields(parsed.data);
  });
  toCheckedJson(chunks);
  return chunks;
}

function checkAuthor(sessionId: string, chunk: StreamChunk): void {
  const isOurs = (agentId: string): boolean => rootOf(agentId) === rootOf(sessionId);
  const isFrame = chunk.type === 'subagent_start' || chunk.type === 'subagent_end';
  if (
    isFrame ? chunk.agentId === sessionId && !isOurs(chunk.subSessionId) : !isOurs(chunk.agentId)
  ) {
    return;
  }
  throw new HelixError('invalid_chunk', 'A tool forwards chunks of other agents only.');
}

function checkShown(chunk: StreamChunk): void {
  if (chunk.type === 'custom' && isReservedEventName(chunk.eventName)) {
    throw new HelixError('invalid_chunk', 'This name of an event is reserved.');
  }
  if (
    (chunk.type === 'source_url' || chunk.type === 'file') &&
    !isShownUrl(chunk.type, chunk.url)
  ) {
    throw new HelixError('invalid_chunk', 'Addresses are of http, https or, of files, data.');
  }
}

/** Drops fields that only the store sets: the place of a result, the undo of a state change. */
function withoutStoreFields(chunk: StreamChunk): StreamChunk {
  if (chunk.type === 'state_patch') {
    const { undo: _undo, ...rest } = chunk;
    return rest;
  }
  if (chunk.type !== 'tool_end') return chunk;
  const { resultRef: _resultRef, ...rest } = chunk;
  return rest;
}

/**
 * Shows a call's preliminary results: the first at once, and then the newest at most every
 * LIMITS.preliminaryEveryMs. Values that are too large, no JSON, or beyond the call's limit are
 * dropped: viewers keep the previous one, and the final result follows in any case.
 */
export function createPreliminary(push: (result: unknown) => void): {
  /** Never throws. */
  show: (result: unknown) => void;
  close: () => void;
} {
  let bytes = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let newest: { json: string } | undefined;
  let isOver = false;

  function write(): void {
    timer = undefined;
    if (newest === undefined || isOver) return;
    const { json } = newest;
    newest = undefined;
    bytes += Buffer.byteLength(json);
    if (bytes > LIMITS.callPreliminaryBytes) {
      isOver = true;
      return;
    }
    push(JSON.parse(json));
    timer = setTimeout(write, LIMITS.preliminaryEveryMs);
    timer.unref();
  }

  return {
    show: (result) => {
      if (isOver) return;
      const json = toShownJson(result);
      if (json === undefined) return;
      // Stored as text, since the tool may change the value before it is written.
      newest = { json };
      if (timer === undefined) write();
    },
    close: () => {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

function toShownJson(result: unknown): string | undefined {
  if (result === undefined || findJsonFault(result) !== undefined) return undefined;
  const json = JSON.stringify(result);
  return Buffer.byteLength(json) > LIMITS.preliminaryBytes ? undefined : json;
}
