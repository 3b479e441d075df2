import { ApplicationFailure } from '@temporalio/activity';
import type { AgentDefinition } from '../../agents/definitions.js';
import type { StepRef } from '../../protocol/activities.js';
import type { StreamChunk } from '../../protocol/chunk.js';
import { formatApprovalId, formatCheckpointId } from '../../protocol/ids.js';
import { toPartialInput } from '../../protocol/reply-fold.js';
import type { AssistantPart, AssistantRow } from '../../protocol/rows.js';
import type {
  CallRef,
  RunError,
  StepOutcome,
  StopRequest,
  TerminalStatus,
} from '../../protocol/run.js';
import type { CommitInput, NewCall, Writer } from '../../stores/session-store.js';
import { readPartialReply } from '../../stores/partial-reply.js';
import type { ActivityDeps } from '../deps.js';
import { closeCall, openCall, type CallScope, type OpenedCall } from './proposed-calls.js';
import type { StepReply } from './step-reply.js';

interface StepCommitInput {
  ref: StepRef;
  writer: Writer;
  agent: AgentDefinition;
  messageId: string;
  reply: StepReply;
  /** Highest sequence that the attempt was told of. */
  known: () => number;
}

/** `rewound`: the store is older than this attempt, nothing was stored. */
type Committed = StepOutcome | 'rewound';

/** The three ways in which a step's reply is stored. */
export interface StepCommit {
  /** The model said all it had to say. */
  complete: () => Promise<Committed>;
  /** A stop cut it: the partial reply is kept. */
  stopped: () => Promise<Committed>;
  /** The provider failed for good: the partial reply is kept, the run fails. */
  failed: (error: RunError) => Promise<Committed>;
}

export function createStepCommit(deps: ActivityDeps, input: StepCommitInput): StepCommit {
  const { ref, writer, agent, messageId, reply, known } = input;
  const scope: CallScope = {
    agentId: ref.sessionId,
    agentType: ref.agent,
    step: ref.step,
    runId: ref.runId,
  };

  async function complete(): Promise<Committed> {
    const opened = await Promise.all(
      reply.calls.map((call) => openCall(scope, agent.tools, call, Date.now())),
    );
    const calls = opened.map(({ call }) => call);
    const outcome: StepOutcome =
      calls.length === 0
        ? { kind: 'ended', step: ref.step, status: 'completed' }
        : { kind: 'calls', step: ref.step, calls: calls.filter(isOpen).map(toRef) };
    return store(opened, outcome, { answersStop: false, ...finalOf(outcome) });
  }

  async function stopped(): Promise<Committed> {
    const record = await deps.store.readRecord(ref.sessionId);
    const mode = record?.stop?.mode ?? 'interrupt';
    const status: TerminalStatus = mode === 'abort' ? 'aborted' : 'interrupted';
    const outcome: StepOutcome = { kind: 'ended', step: ref.step, status };
    const text = 'The run was stopped before this call was carried out.';
    return store(closeAll({ code: 'run_stopped', text }), outcome, {
      answersStop: true,
      interrupted: mode,
      final: { status },
    });
  }

  async function failed({ code, message, retryable }: RunError): Promise<Committed> {
    const error: RunError = { code, message, retryable };
    const outcome: StepOutcome = { kind: 'ended', step: ref.step, status: 'failed', error };
    const text = 'The run failed before this call was carried out.';
    return store(closeAll({ code: 'run_failed', text }), outcome, {
      answersStop: true,
      interrupted: 'failure',
      final: { status: 'failed', error },
    });
  }

  function closeAll(why: { code: string; text: string }): OpenedCall[] {
    const proposed = new Map(reply.calls.map(({ toolCallId, input: text }) => [toolCallId, text]));
    return reply.fold.parts.filter(isCallPart).map((part) => {
      const text = proposed.get(part.toolCallId) ?? reply.fold.argumentText.get(part.toolCallId);
      return closeCall(scope, part, toPartialInput(text), why, Date.now());
    });
  }

  async function store(
    opened: OpenedCall[],
    outcome: StepOutcome,
    how: Pick<CommitInput, 'answersStop' | 'final'> & { interrupted?: AssistantRow['interrupted'] },
  ): Promise<Committed> {
    const now = Date.now();
    const calls = opened.map(({ call }) => call);
    const parts = withCalls(reply.fold.parts, calls, ref.runId);
    // A reply that was cut before it said anything leaves no row.
    const row: AssistantRow | undefined =
      how.interrupted !== undefined && parts.length === 0
        ? undefined
        : {
            role: 'assistant',
            messageId,
            runId: ref.runId,
            step: ref.step,
            parts,
            ...(how.interrupted !== undefined && { interrupted: how.interrupted }),
          };
    const checkpointId = formatCheckpointId(ref.runId, ref.step);
    const result = await deps.store.commit({
      writer,
      known: known(),
      ...(row !== undefined && { row }),
      calls,
      chunks: [
        ...opened.flatMap(({ chunks }) => chunks),
        ...closing(row !== undefined, checkpointId, now),
      ],
      outcome,
      checkpointId,
      answersStop: how.answersStop,
      ...(how.final !== undefined && { final: how.final }),
      now,
    });
    switch (result.kind) {
      case 'committed':
        return 'step' in outcome ? { ...outcome, sequence: result.sequence } : outcome;
      case 'done':
        return result.outcome;
      case 'stopped':
        return stopped();
      case 'superseded':
        return { kind: 'superseded' };
      case 'rewound':
        return 'rewound';
      case 'fenced':
        throw ApplicationFailure.create({
          message: 'another attempt owns this step',
          type: 'fenced',
        });
    }
  }

  function closing(withRow: boolean, checkpointId: string, timestamp: number): StreamChunk[] {
    const { agentId, agentType, step, runId } = scope;
    const base = { agentId, agentType, step, timestamp };
    const stepId = `s${String(step)}`;
    const finish = reply.finish();
    const end: StreamChunk = {
      type: 'step_end',
      ...base,
      stepId,
      ...(finish !== undefined && { usage: finish.usage, finishReason: finish.reason }),
    };
    return [
      // A model may end without a word: its step is still a step.
      ...(!reply.begun() && withRow ? [{ type: 'step_start' as const, ...base, stepId }] : []),
      ...(withRow ? [end] : []),
      { type: 'checkpoint_created', ...base, runId, checkpointId, stepCount: step },
      { type: 'step_committed', ...base, runId, stepId, checkpointId },
    ];
  }

  return { complete, stopped, failed };
}

/**
 * A claim that found a stop: no model call, the run ends as the stop says. What an attempt before
 * had said stays, since people saw it.
 */
export async function endStopped(
  deps: ActivityDeps,
  ref: StepRef,
  stop: StopRequest,
): Promise<StepOutcome> {
  const record = await deps.store.readRecord(ref.sessionId);
  const row =
    record?.runId === ref.runId
      ? await readPartialReply(deps.streamManager, record, stop.mode)
      : undefined;
  const result = await deps.store.end({
    sessionId: ref.sessionId,
    runId: ref.runId,
    agentType: ref.agent,
    step: ref.step,
    status: stop.mode === 'abort' ? 'aborted' : 'interrupted',
    ...(row !== undefined && { row }),
    now: Date.now(),
  });
  return result.kind === 'superseded'
    ? { kind: 'superseded' }
    : { kind: 'ended', step: ref.step, status: result.status };
}

function finalOf(outcome: StepOutcome): Pick<CommitInput, 'final'> {
  return outcome.kind === 'ended' ? { final: { status: outcome.status } } : {};
}

const isOpen = (call: NewCall): boolean => call.row === undefined;

function toRef({ toolCallId, toolName, kind, timeoutMs, deadlineMs }: NewCall): CallRef {
  return {
    toolCallId,
    toolName,
    kind,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(deadlineMs !== undefined && { deadlineMs }),
  };
}

type CallPart = Extract<AssistantPart, { type: 'tool-call' }>;

function isCallPart(part: AssistantPart): part is CallPart {
  return part.type === 'tool-call';
}

/** The fold knows where the calls stand, the calls know what they became. */
function withCalls(
  parts: readonly AssistantPart[],
  calls: NewCall[],
  runId: string,
): AssistantPart[] {
  const byId = new Map(calls.map((call) => [call.toolCallId, call]));
  return parts.flatMap((part): AssistantPart[] => {
    if (part.type !== 'tool-call') return [part];
    const call = byId.get(part.toolCallId);
    // Arguments that were streamed without ever becoming a call.
    if (call === undefined) return [];
    const { kind, input } = call;
    return [
      {
        ...part,
        kind,
        input,
        ...(kind === 'approval' && { approvalId: formatApprovalId(runId, call.toolCallId) }),
      },
    ];
  });
}
