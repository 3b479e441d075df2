import { createAgentState, type AgentState } from '../../agents/agent-state.js';
import type { AgentDefinition } from '../../agents/definitions.js';
import { StateError, ToolError } from '../../agents/tool-error.js';
import type { ToolCallIdentity, ToolContext, ToolPeople } from '../../agents/tool-context.js';
import type { CallActivityRef } from '../../protocol/activities.js';
import {
  StreamChunkSchema,
  type JSONPatchOperation,
  type StreamChunk,
} from '../../protocol/chunk.js';
import { HelixError } from '../../protocol/errors.js';
import { isReservedEventName } from '../../protocol/wire-names.js';
import { rootOf } from '../../protocol/ids.js';
import { findJsonFault } from '../../protocol/json-depth.js';
import { LIMITS } from '../../protocol/limits.js';
import { toPrincipal } from '../../protocol/responder.js';
import type { ToolWork } from '../../protocol/tool-work.js';
import { formatWebhookToken } from '../../protocol/answers.js';
import { isShownUrl } from '../../protocol/provider-result.js';
import type { CallPermission } from '../../store/contract/calls.js';
import type { CustomState } from '../../store/contract/documents.js';
import { toCheckedJson } from '../../store/record/stored-json.js';
import type { Attempt } from '../attempt.js';
import type { ChunkWriter } from '../chunk-writer.js';
import type { ActivityDeps } from '../deps.js';
import { toBase } from './tool-outcome.js';

/** The context of a running tool, and what the tool leaves. */
export interface CallContext {
  context: ToolContext;
  /** The address that answers the call, if its tool has a webhook. */
  webhookUrl: string;
  /** What it has changed in the agent's own state and not recorded yet. */
  changes: () => JSONPatchOperation[];
  /** True once it has emitted an event that history keeps. */
  hasEvents: () => boolean;
  /** Nothing that the tool says or changes from now on counts: its call is over. */
  close: () => void;
}

/** The same for every attempt of the call. */
export function toCallIdentity(
  { sessionId, runId, agent: agentType, toolCallId }: CallActivityRef,
  { requester, approver }: Pick<CallPermission, 'requester' | 'approver'>,
): ToolCallIdentity & ToolPeople & Pick<ToolContext, 'idempotencyKey'> {
  const idempotencyKey = `${runId}/${toolCallId}`;
  const people = { requester: toPrincipal(requester), approver: toPrincipal(approver) };
  return { sessionId, runId, agentId: sessionId, agentType, toolCallId, idempotencyKey, ...people };
}

/** Temporal keeps what has ended at least this long. */
const HISTORY_MS = 3_600_000;

interface CallContextInput {
  ref: CallActivityRef;
  agent: AgentDefinition;
  /** As stored, for agents with a state. */
  state: CustomState | undefined;
  /** Which execution of the call it is, from 1. */
  execution: number;
  attempt: Attempt;
  abortSignal: AbortSignal;
  chunks: ChunkWriter;
  permission: CallPermission;
  /** The agent and step in whose message the call stands, where they are not its own. */
  shown: { agentId?: string; step?: number };
}

type CallContextDeps = Pick<ActivityDeps, 'services' | 'publicUrl' | 'toolWork'>;

/** @throws StateError if the stored state does not fit the agent's schema */
export function openCallContext(
  { services, toolWork, publicUrl = '' }: CallContextDeps,
  {
    ref,
    agent,
    state: stored,
    execution,
    attempt,
    abortSignal,
    chunks,
    permission,
    shown,
  }: CallContextInput,
): CallContext {
  const { stateSchema } = agent;
  const state: AgentState | undefined =
    stateSchema === undefined ? undefined : createAgentState(stateSchema, stored ?? {});
  let isOver = false;
  let hasEvents = false;
  let hasWork = false;
  let eventBytes = 0;
  const { toolCallId } = ref;
  const { toolName, kind } = permission.call;
  const preliminary = createPreliminary((result) => {
    const base = { type: 'tool_output_preliminary' as const, ...toBase(ref), ...shown };
    // As the result, which replaces it.
    const mark = kind === 'server' ? { providerExecuted: true } : {};
    chunks.push([{ ...base, toolCallId, toolName, result, ...mark }]);
  });

  const isHandedOver = (): boolean => attempt.cancelled() || attempt.cutReason() === 'fenced';

  function stateOfAgent(): AgentState {
    if (state !== undefined) return state;
    throw new StateError('state_missing', `The agent "${agent.name}" has no stateSchema.`);
  }

  /** Refused here, what does not fit is the tool's error and not that of its writer. */
  function bytesOf(chunk: StreamChunk): number {
    if (isOver) throw new Error('the call is over');
    const [json = ''] = toCheckedJson([chunk]);
    return Buffer.byteLength(json);
  }

  let taken = 0;
  const takeChanges = (): JSONPatchOperation[] => {
    const all = state?.patches() ?? [];
    const changes = all.slice(taken);
    taken = all.length;
    return changes;
  };
  const { hook: secret } = permission;
  const token = secret && formatWebhookToken({ sessionId: ref.sessionId, toolCallId, secret });

  const context: ToolContext = {
    ...toCallIdentity(ref, permission),
    attempt: execution,
    abortSignal,
    emit: async (eventName, data) => {
      const chunk: StreamChunk = { type: 'custom', ...toBase(ref), eventName, data: data ?? null };
      eventBytes += bytesOf(chunk);
      const isKept = eventBytes <= LIMITS.callEventBytes;
      chunks.push([isKept ? chunk : { ...chunk, transient: true }]);
      hasEvents ||= isKept;
      await chunks.flush();
    },
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
    forward: async (forwarded) => {
      if (isOver) throw new Error('the call is over');
      chunks.push(checkForwarded(ref.sessionId, forwarded));
      await chunks.flush();
    },
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
    changes: takeChanges,
    hasEvents: () => hasEvents,
    close: () => {
      isOver = true;
      preliminary.close();
    },
  };
}

/** Work is named after its call: a second one would get the result of the first. */
function secondText({ name }: ToolWork): string {
  return `A call executes one activity or operation. "${name}" is a second one and was not started.`;
}

/**
 * Chunks that a tool brings from an agent elsewhere. They may speak for any agent but those of this
 * conversation: what these say, and how their runs go, is written by the runtime alone. Nor may an
 * event have the name of one of the runtime's, or an address run as a script in the page.
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
    checkSpeaker(sessionId, parsed.data);
    checkShown(parsed.data);
    return withoutStoreFields(parsed.data);
  });
  toCheckedJson(chunks);
  return chunks;
}

function checkSpeaker(sessionId: string, chunk: StreamChunk): void {
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

/** What only the store may say: where a result is kept, and what takes changes of this agent back. */
function withoutStoreFields(chunk: StreamChunk): StreamChunk {
  if (chunk.type === 'state_patch') {
    const { undo: _undo, ...rest } = chunk;
    return rest;
  }
  if (chunk.type !== 'tool_end') return chunk;
  const { resultRef: _resultRef, ...rest } = chunk;
  return rest;
}

/** The preliminary results of one call: the newest replaces those before, until the call is over. */
interface Preliminary {
  /** Never throws: a value that cannot be shown is left out. */
  show: (result: unknown) => void;
  /** Nothing is shown from now on. */
  close: () => void;
}

/**
 * Shows the first at once, and later ones at most every LIMITS.preliminaryEveryMs, the newest each
 * time. Values that are too large, no JSON, or beyond what one call may show are left out: viewers
 * keep the one before, and the result follows in any case.
 */
export function createPreliminary(push: (result: unknown) => void): Preliminary {
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
      // As text: the tool may change the value before it is written.
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
