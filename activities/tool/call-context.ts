import { createAgentState, type AgentState } from '../../agents/agent-state.js';
import type { AgentDefinition } from '../../agents/definitions.js';
import { StateError } from '../../agents/tool-error.js';
import type { ToolContext } from '../../agents/tool-context.js';
import type { CallActivityRef } from '../../protocol/activities.js';
import { LIMITS } from '../../protocol/limits.js';
import type { JsonPatchOperation, StreamChunk } from '../../protocol/chunk.js';
import { toCheckedJson } from '../../stores/record/checked-messages.js';
import type { Attempt } from '../attempt.js';
import type { ChunkWriter } from '../chunk-writer.js';
import type { ActivityDeps } from '../deps.js';
import { checkForwarded } from '../forwarded-chunks.js';
import { toBase } from './tool-outcome.js';

/** What a running tool is given, and what it leaves. */
export interface CallContext {
  context: ToolContext;
  /** What it has changed in the agent's own state. */
  changes: () => JsonPatchOperation[];
  /** True once it has said something that history keeps. */
  hasEvents: () => boolean;
  /** Nothing that the tool says or changes from now on counts: its call is over. */
  close: () => void;
}

interface CallContextInput {
  ref: CallActivityRef;
  agent: AgentDefinition;
  /** Which execution of the call it is, from 1. */
  execution: number;
  attempt: Attempt;
  abortSignal: AbortSignal;
  chunks: ChunkWriter;
}

/** @throws StateError if the stored state does not fit the agent's schema */
export async function openCallContext(
  { store, services }: Pick<ActivityDeps, 'store' | 'services'>,
  { ref, agent, execution, attempt, abortSignal, chunks }: CallContextInput,
): Promise<CallContext> {
  const { stateSchema } = agent;
  const state: AgentState | undefined =
    stateSchema === undefined
      ? undefined
      : createAgentState(stateSchema, (await store.documents.readState(ref.sessionId)).customState);
  let isOver = false;
  let hasEvents = false;
  let eventBytes = 0;

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

  const context: ToolContext = {
    sessionId: ref.sessionId,
    runId: ref.runId,
    agentId: ref.sessionId,
    agentType: ref.agent,
    toolCallId: ref.toolCallId,
    idempotencyKey: `${ref.runId}/${ref.toolCallId}`,
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
    step: ref.step,
    forward: async (given) => {
      if (isOver) throw new Error('the call is over');
      chunks.push(checkForwarded(ref.sessionId, given));
      await chunks.flush();
    },
    isHandedOver: () => attempt.cancelled() || attempt.cutReason() === 'fenced',
    services,
  };
  return {
    context,
    changes: () => state?.patches() ?? [],
    hasEvents: () => hasEvents,
    close: () => {
      isOver = true;
    },
  };
}
