import type { ChildActivities, ChildEndRef } from '../protocol/temporal.js';
import type { StreamChunk } from '../protocol/chunk.js';
import { LIMITS } from '../protocol/limits.js';
import { isTerminal, type ChildRef } from '../protocol/run.js';
import type { ToolRow } from '../protocol/rows.js';
import type { SessionRecord } from '../store/contract/sessions.js';
import { wakeAll } from '../runs/record/answers.js';
import type { ActivityDeps } from './deps.js';
import { toOutcome, type ToolOutcome } from './tool/tool-outcome.js';

/** `cause`: error code of the sub-agent's own run. */
type Result = ToolOutcome & { cause?: string };

/** Settles a parent's call with its sub-agent's result; a lost sub-agent is ended first. */
export function createSettleChild(deps: ActivityDeps): ChildActivities['settleChild'] {
  const { store } = deps;

  return async (ref) => {
    const isAtWork = await settleUnlessAtWork(ref);
    // The end of the last sub-agent that asked people releases calls that were approved before.
    const at = await store.runs.next(ref, { lists: true });
    return { at, ...(isAtWork && { isAtWork }) };
  };

  /** Settles the call of a sub-agent that has ended; returns true if the sub-agent is still at work. */
  async function settleUnlessAtWork(ref: ChildEndRef): Promise<boolean> {
    const call = await store.calls.read(ref.sessionId, ref.toolCallId);
    if (call === undefined || call.state === 'settled') return false;
    if (ref.started === true && (await isActive(ref.child))) return true;
    const { cause, ...result } = await readResult(ref);
    const { toolName } = call.spec;
    const { sessionId, runId, agent: agentType, toolCallId } = ref;
    const failed = 'error' in result;
    const row: ToolRow = { role: 'tool', toolCallId, toolName, ...result };
    const base = { agentId: sessionId, agentType, step: ref.step, timestamp: Date.now() };
    const output: unknown = failed ? null : result.output;
    const failure = failed ? result : {};
    const end: StreamChunk = {
      type: 'subagent_end',
      ...base,
      subAgentType: ref.child.agent,
      subSessionId: ref.child.sessionId,
      callId: toolCallId,
      // The call's own `tool_end` carries a large result.
      result: failed ? { error: result.error, code: result.errorCode } : toSmall(output),
      ...(cause !== undefined && { cause }),
    };
    const settled = await store.calls.settle({
      source: 'child',
      sessionId,
      agentType,
      toolCallId,
      runId,
      row,
      chunks: [
        end,
        {
          type: 'tool_end',
          ...base,
          toolCallId,
          toolName,
          result: output,
          ...failure,
          providerExecuted: true,
        },
      ],
      now: Date.now(),
    });
    if (settled.kind === 'stored') await wakeAll(deps, settled.others);
    return false;
  }

  /**
   * Returns true unless its record or workflow has ended. Temporal does not know a workflow that is still starting;
   * one that has begun its record has been deleted.
   */
  async function isActive({ sessionId, runId }: ChildRef): Promise<boolean> {
    const record = await store.sessions.read(sessionId);
    const hasBegun = record?.runId === runId;
    if (hasBegun && isTerminal(record.status)) return false;
    const state = await deps.workflowState?.(runId);
    return state !== 'closed' && !(hasBegun && state === 'unknown');
  }

  async function readResult(ref: ChildEndRef): Promise<Result> {
    const { sessionId, runId, agent } = ref.child;
    const found = await store.sessions.read(sessionId);
    const record = found?.runId === runId ? found : undefined;
    if (record === undefined) return LOST;
    if (isTerminal(record.status)) return toResult(record);
    await store.runs.end({
      sessionId,
      runId,
      agentType: agent,
      step: record.claimedStep,
      status: 'failed',
      error: { code: LOST.errorCode, message: LOST.error, retryable: false },
      now: Date.now(),
    });
    // The sub-agent may have ended normally a moment ago.
    const ended = await store.sessions.read(sessionId);
    return ended === undefined ? LOST : toResult(ended);
  }

  async function toResult(record: SessionRecord): Promise<Result> {
    const { status, error } = record;
    if (status === 'completed') return toOutcome(await readOutput(record));
    const { code, message } = error ?? {};
    if (code === LOST.errorCode) return LOST;
    return {
      error: message ?? 'The sub-agent was stopped.',
      errorCode: code === 'subagent_limit' ? code : 'subagent_failed',
      ...(code !== undefined && { cause: code }),
    };
  }

  /** Returns the sub-agent's structured result, else its last text. */
  async function readOutput({ sessionId, output }: SessionRecord): Promise<unknown> {
    if (output !== undefined) return output;
    const rows = await store.sessions.rows(sessionId, 0);
    const texts = rows.map((row) =>
      row.role !== 'assistant'
        ? ''
        : row.parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    );
    return texts.findLast((text) => text !== '') ?? '';
  }
}

const LOST = {
  error: 'The sub-agent was lost.',
  errorCode: 'framework_subagent_lost',
};

function toSmall(output: unknown): unknown {
  const bytes = Buffer.byteLength(JSON.stringify(output ?? null));
  return bytes > LIMITS.inlineResultBytes ? null : output;
}
