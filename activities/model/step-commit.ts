import type { AgentDefinition } from '../../agents/definitions.js';
import type { Interruption } from '../../protocol/chunk.js';
import { FINISH_TOOL_NAME, formatApprovalId, formatCheckpointId } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import { isCarriedOut, toPartialInput } from '../../protocol/reply-fold.js';
import type { Answered, AssistantPart, AssistantRow, Row } from '../../protocol/rows.js';
import type { CallRef, StepOutcome } from '../../protocol/run.js';
import { hashInput } from '../../protocol/shown-call.js';
import {
  closedCall,
  closingChunks,
  CUT_CALLS,
  type CallToCommit,
} from '../../runs/record/step-chunks.js';
import { toChildRef, type NewCall } from '../../store/contract/call-record.js';
import type { CommitInput } from '../../store/contract/steps.js';
import { addUsage } from '../../store/contract/usage.js';
import { isQuestion } from '../../store/record/questions.js';
import { cutOf } from '../attempt.js';
import type { ActivityDeps } from '../deps.js';
import type { StepDone } from '../after-work.js';
import { AttemptOver, owned } from '../end-step.js';
import { activityOf } from '../tool/execute-tool.js';
import { isBound } from './acceptable-prompt.js';
import { openFinishCalls, toFinishTool, type FinishCalls } from './finish-tool.js';
import { untilStalled, type ModelRequest } from './middleware.js';
import { endWith, openCall, refuseBeyond, type ProposingStep } from './proposed-calls.js';
import { isOfPrompt, type ProviderFailure } from './provider-failure.js';
import { repairCalls } from './repair-call.js';
import { hasReached, modelNameOf, toSpent, usageOf } from './spending.js';
import { toOutcome } from './step-outcome.js';
import { readsSteps } from './step-records.js';
import type { StepReply } from './step-reply.js';
import { findEnds } from './stop-conditions.js';
import { deferQuestions } from './deferred-questions.js';

/** Ways of storing a step's reply. Each throws AttemptOver. */
export interface StepCommit {
  /** Stores a complete reply. */
  complete: () => Promise<StepDone>;
  /** Ends the run by the agent's own conditions, without a request to the model. */
  over: () => Promise<StepDone>;
  /** Stores the partial reply after a stop. */
  stopped: () => Promise<StepDone>;
  /** Stores the partial reply and fails the run after the provider failed for good. */
  failed: (failure: ProviderFailure) => Promise<StepDone>;
}

export function createStepCommit(
  { store }: Pick<ActivityDeps, 'store'>,
  request: ModelRequest,
): StepCommit {
  const { ref, reply, call, compactions } = request;
  const { attempt, writer, agent, claim, chunks, rows, warn } = request.step;
  const { step, runId } = ref;
  const { parts } = reply.fold;
  const base = { agentId: ref.sessionId, agentType: ref.agent, step };
  const from: ProposingStep = {
    ...base,
    runId,
    depth: ref.depth,
    prompt: call?.options.prompt,
    claimed: request.step,
  };
  const usage = usageOf(request);
  const finished = reply.finish();

  async function complete(): Promise<StepDone> {
    const finish = await toFinishTool(agent);
    const handed = await openFinishCalls(from, finish, reply.calls);
    // Models that were asked for a format write the result as text, as the AI SDK expects.
    const written = reply.calls.length === 0 ? await finish?.read(textOf(reply)) : undefined;
    const accepted = handed.accepted ?? written;
    let made: Awaited<ReturnType<typeof openCalls>>;
    try {
      made = await openCalls(handed.opened);
    } catch (error) {
      const reason = cutOf(attempt);
      if (reason === 'stop') return stopped();
      throw reason === undefined ? error : new AttemptOver({ kind: reason, known: chunks.known() });
    }
    const opened = deferQuestions(agent, ref.sessionId, made.opened);
    const open = opened.flatMap(({ call }) => (isOpen(call) ? [toRef(agent, call, runId)] : []));
    const used = addUsage(addUsage(request.used, compactions?.usage()), usage);
    const outcome = toOutcome({
      ref,
      invalidFinishes: claim.invalidFinishes,
      open,
      hasCalls: opened.length > 0 || awaitsProvider(agent, parts, rows),
      owesResult: finish !== undefined,
      result: accepted ? 'valid' : handed.opened.size > 0 ? 'invalid' : 'none',
      isEnd: made.isEnd,
      spent: toSpent(used),
      isSpent: hasReached(agent.spendCap, used),
    });
    return commit([...opened, ...close(isUnmade, BROKEN_OFF)], outcome, { ...accepted });
  }

  /**
   * Checks the calls of the reply, which the agent may repair.
   *
   * @param handed calls that submit the result
   * @throws once the attempt is cut
   */
  async function openCalls(
    handed: FinishCalls['opened'],
  ): Promise<{ opened: CallToCommit[]; isEnd: boolean }> {
    const repaired = call === undefined ? reply.calls : await repairCalls(request, call);
    const now = Date.now();
    const { maxCallsPerStep: max = LIMITS.callsPerStep } = agent;
    let n = 0;
    const carried = await Promise.all(
      repaired.map(async (each) => {
        const finish = handed.get(each);
        if (finish !== undefined) return finish;
        n += 1;
        return n > max
          ? refuseBeyond(from, each, max, now)
          : openCall(from, call?.tools ?? [], each, now);
      }),
    );
    const ends = await endsOf(carried.map(({ call }) => call));
    const opened = carried.map((each) =>
      ends.has(each.call.toolCallId) ? endWith(from, each, now) : each,
    );
    return { opened, isEnd: ends.size > 0 };
  }

  /** Returns the calls that end the run. @throws once the attempt is cut */
  async function endsOf(calls: readonly NewCall[]): Promise<ReadonlySet<string>> {
    const asked = calls.filter((call) => call.kind === 'client' && isOpen(call));
    if (asked.length === 0) return new Set();
    const row = toRow(withCalls(reply, calls, runId));
    try {
      return await findEnds(agent, { rows, step: row }, asked, untilStalled(request.step));
    } catch (error) {
      if (cutOf(attempt) !== undefined) throw error;
      // The page is asked anyway; a failure of the condition counts before the next step.
      warn('a stop condition failed', error);
      return new Set();
    }
  }

  /** Returns true for a call that never completed after its arguments were streamed: people saw it. */
  function isUnmade({ toolCallId, toolName, kind }: CallPart): boolean {
    if (kind === 'provider' || toolName === FINISH_TOOL_NAME) return false;
    return !reply.calls.some((made) => made.toolCallId === toolCallId);
  }

  function isUnanswered(part: CallPart): boolean {
    return !isCarriedOut(parts, part);
  }

  function close(
    isClosed: (part: CallPart) => boolean,
    why: { code: string; text: string },
  ): CallToCommit[] {
    return parts.flatMap((part) => {
      if (part.type !== 'tool-call' || !isClosed(part)) return [];
      const { toolCallId, toolName } = part;
      const made = reply.calls.find((call) => call.toolCallId === toolCallId);
      const input = toPartialInput(made?.input ?? reply.fold.argumentText.get(toolCallId));
      const closed = closedCall(from, part, input, why, Date.now());
      return toolName === FINISH_TOOL_NAME ? { ...closed, chunks: [] } : closed;
    });
  }

  function over(): Promise<StepDone> {
    return commit([], { kind: 'ended', step, status: 'completed' }, { isUnasked: true });
  }

  async function stopped(): Promise<StepDone> {
    const record = await store.sessions.read(ref.sessionId);
    const interrupted = record?.stop?.mode ?? 'interrupt';
    const status = interrupted === 'abort' ? 'aborted' : 'interrupted';
    return commit(
      close(isUnanswered, CUT_CALLS.stopped),
      { kind: 'ended', step, status },
      { interrupted },
    );
  }

  function failed(failure: ProviderFailure): Promise<StepDone> {
    const { code, message, retryable, newest = code } = failure;
    const error = { code, message, retryable };
    const outcome: StepOutcome = { kind: 'ended', step, status: 'failed', error };
    const refused = isOfPrompt(newest) ? newest : undefined;
    return commit(close(isUnanswered, CUT_CALLS.failed), outcome, {
      interrupted: 'failure',
      refused,
    });
  }

  async function commit(
    opened: CallToCommit[],
    outcome: StepOutcome,
    how: Pick<CommitInput, 'output'> & {
      interrupted?: Interruption;
      isUnasked?: true;
      /** Code of a refusal; the next turn omits the new parts. */
      refused?: string | undefined;
    },
  ): Promise<StepDone> {
    const { interrupted, isUnasked = false, refused, ...output } = how;
    const now = Date.now();
    const isCut = interrupted !== undefined;
    const calls = opened.map(({ call }) => call);
    const made = withCalls(reply, calls, runId);
    // A reply that was cut before its first part leaves no visible row.
    const isEmpty = made.length === 0 && (isUnasked || isCut);
    const compaction = compactions?.made();
    const row: AssistantRow = {
      ...toRow(made),
      interrupted,
      ...toNotes(made, request, refused),
      ...(isEmpty && { display: true }),
      ...(compaction !== undefined && { compaction }),
    };
    const hasRow = !isEmpty || refused !== undefined;
    const checkpointId = formatCheckpointId(runId, step);
    const stepStart = {
      type: 'step_start',
      ...base,
      timestamp: now,
      stepId: `s${String(step)}`,
    } as const;
    const finish = finished && { usage: finished.usage, finishReason: finished.reason };
    const result = owned(
      await store.steps.commit({
        writer,
        known: chunks.known(),
        row: hasRow ? row : undefined,
        calls,
        chunks: [
          // The stream begins a step with its first output, which a reply need not have.
          ...(isEmpty || reply.begun() ? [] : [stepStart]),
          ...opened.flatMap(({ chunks }) => chunks),
          ...closingChunks(from, now, {
            hasRow: !isEmpty,
            interrupted,
            ...(finish && { finish }),
          }),
        ],
        outcome,
        checkpointId,
        usage,
        finishReason: finished?.reason,
        model: call?.name ?? modelNameOf(agent.llmConfig),
        ...(outcome.kind === 'ended' && {
          final: { status: outcome.status, error: outcome.error },
        }),
        answersStop: isCut,
        ...output,
        now,
      }),
    );
    if (result.kind === 'committed' || result.kind === 'steered') {
      for (const tell of request.recorded) tell(usage);
    }
    switch (result.kind) {
      case 'committed':
      case 'steered': {
        const { sequence, at } = result;
        if (!('step' in outcome)) return outcome;
        return result.kind === 'committed'
          ? { ...outcome, sequence, at }
          : { kind: 'calls', step, calls: [], sequence, at };
      }
      case 'done':
        return result.outcome;
      case 'stopped':
        return stopped();
    }
  }

  function toRow(made: AssistantPart[]): AssistantRow {
    const kept = readsSteps(agent) && {
      usage: finished?.usage,
      finishReason: finished?.reason,
      answered: toAnswered(request),
    };
    const { messageId } = claim;
    return { role: 'assistant', messageId, runId, step, parts: made, ...kept };
  }

  return { complete, over, stopped, failed };
}

/** Returns notes for later prompts: the model bound to the parts, its limits, and its refusal. */
function toNotes(
  parts: readonly AssistantPart[],
  { call }: ModelRequest,
  refused: string | undefined,
): Pick<AssistantRow, 'model' | 'eased' | 'refused'> {
  if (refused !== undefined) return { refused };
  if (call === undefined) return {};
  const { provider, modelId } = call.model;
  return {
    ...(parts.some(isBound) && { model: { provider, modelId } }),
    ...(call.eased !== undefined && { eased: call.eased }),
  };
}

/** Returns the provider's report on its reply; undefined if the model was not asked. */
function toAnswered({ call, times, reply }: ModelRequest): Answered | undefined {
  if (call === undefined || times.began === undefined) return undefined;
  const { provider, modelId } = call.model;
  const { began, finishMs, outputMs } = times;
  const round = (ms: number | undefined) => (ms === undefined ? undefined : Math.round(ms));
  const took = { ms: round(finishMs), firstMs: round(outputMs) };
  return { provider, modelId, at: began.at, ...took, ...reply.reported };
}

function textOf({ fold }: StepReply): string {
  return fold.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

const BROKEN_OFF = { code: 'invalid_tool_input', text: 'The model broke off this call.' };

const isOpen = (call: NewCall): boolean => call.row === undefined;

function toRef(agent: AgentDefinition, call: NewCall, runId: string): CallRef {
  const { toolCallId, toolName, kind, timeoutMs, deadlineMs, child, input } = call;
  return {
    toolCallId,
    toolName,
    kind,
    ...(isQuestion(call) && {
      approvalId: formatApprovalId(runId, toolCallId),
      inputHash: hashInput(input),
    }),
    timeoutMs,
    deadlineMs,
    activity: activityOf(agent, toolName),
    ...(child !== undefined && { child: toChildRef(child) }),
  };
}

type CallPart = Extract<AssistantPart, { type: 'tool-call' }>;

/** Combines positions of calls, from the fold, with their checked inputs, from `calls`. */
function withCalls(
  { fold, deferredCalls }: Pick<StepReply, 'fold' | 'deferredCalls'>,
  calls: readonly NewCall[],
  runId: string,
): AssistantPart[] {
  const byId = new Map(calls.map((call) => [call.toolCallId, call]));
  return fold.parts.flatMap((part): AssistantPart[] => {
    if (part.type !== 'tool-call') return [part];
    const call = byId.get(part.toolCallId);
    // Other arguments never became a call.
    if (call === undefined) return part.kind === 'provider' ? [part] : [];
    // The repair may have chosen another tool.
    const { toolCallId, toolName, kind, input, ask } = call;
    const late = deferredCalls.has(toolCallId) && { late: true as const };
    const approval = kind === 'approval' && { approvalId: formatApprovalId(runId, toolCallId) };
    const isHeld = ask !== undefined;
    // The reply has already streamed the metadata of calls that the provider executes.
    const isFailed = call.row?.role === 'tool' && call.row.error !== undefined;
    const isClosed = isFailed && part.kind !== 'provider';
    const marks = { ...(isHeld ? { held: true } : late), ...(isClosed && { closed: true }) };
    return [{ ...part, toolName, kind, input, ...approval, ...marks }];
  });
}

/** Returns true while a call waits for a result that its provider gives in a later reply. */
function awaitsProvider(
  { tools }: AgentDefinition,
  parts: readonly AssistantPart[],
  rows: readonly Row[],
): boolean {
  const defers = new Set(tools.flatMap(({ name, provider }) => (provider?.defers ? [name] : [])));
  if (defers.size === 0) return false;
  const start = rows.findLastIndex(({ role }) => role === 'user') + 1;
  const before = rows.slice(start).flatMap((row) => (row.role === 'assistant' ? row.parts : []));
  const waiting = new Set<string>();
  for (const part of [...before, ...parts]) {
    if (part.type === 'tool-result') waiting.delete(part.toolCallId);
    if (part.type !== 'tool-call' || part.kind !== 'provider') continue;
    if (defers.has(part.toolName)) waiting.add(part.toolCallId);
  }
  return waiting.size > 0;
}
