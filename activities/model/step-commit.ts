import type { Interruption } from '../../protocol/chunk.js';
import { LIMITS } from '../../protocol/limits.js';
import { FINISH_TOOL_NAME, formatCheckpointId, formatApprovalId } from '../../protocol/ids.js';
import { isCarriedOut, toPartialInput } from '../../protocol/reply-fold.js';
import type { AssistantRow, AssistantPart, Row } from '../../protocol/rows.js';
import type { RunError, StepOutcome, TerminalStatus, CallRef } from '../../protocol/run.js';
import { addUsage } from '../../store/contract/usage.js';
import type { CommitInput } from '../../store/contract/steps.js';
import {
  closedCall,
  closingChunks,
  CUT_CALLS,
  openingChunks,
} from '../../runs/record/closed-call.js';
import type { AgentDefinition } from '../../agents/definitions.js';
import { hashInput } from '../../protocol/shown-call.js';
import { type NewCall, toChildRef } from '../../store/contract/call-record.js';
import { isQuestion } from '../../store/record/questions.js';
import { cutOf } from '../attempt.js';
import type { ActivityDeps } from '../deps.js';
import { AttemptOver, owned, type StepDone } from '../endings.js';
import { activityOf } from '../tool/execute-tool.js';
import { untilStalled, type ModelCall, type ModelRequest } from './middleware.js';
import { isBound } from './acceptable-prompt.js';
import { openFinishCalls, toFinishTool } from './finish-tool.js';
import {
  endWith,
  isTooDeep,
  openCall,
  refuseBeyond,
  type CallScope,
  type OpenedCall,
} from './proposed-calls.js';
import { isOfPrompt, type ProviderFailure } from './provider-failure.js';
import { repairCalls } from './repair-call.js';
import { hasReached, modelNameOf, toSpent, usageOf } from './spending.js';
import { toOutcome } from './step-outcome.js';
import { readsSteps } from './step-records.js';
import { findEnds } from './stop-conditions.js';
import type { ProposedCall, StepReply } from './reply-types.js';
import { deferAsks } from './sub-agents.js';

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

export function createStepCommit(deps: ActivityDeps, request: ModelRequest): StepCommit {
  const { ref, reply, call, compactions } = request;
  const { attempt, writer, agent, claim, chunks, warn } = request.step;
  const { messageId } = claim;
  const scope: CallScope = {
    agentId: ref.sessionId,
    agentType: ref.agent,
    step: ref.step,
    runId: ref.runId,
    isDeepest: isTooDeep(ref),
    prompt: call?.options.prompt,
  };

  const usage = usageOf(request);

  async function complete(): Promise<StepDone> {
    const finish = await toFinishTool(agent);
    const handed = await openFinishCalls(scope, finish, reply.calls);
    // Models that were asked for a format write the result as text, as the AI SDK expects.
    const written = reply.calls.length === 0 ? await finish?.read(textOf(reply)) : undefined;
    const accepted = handed.accepted ?? written;
    let made: Awaited<ReturnType<typeof openCalls>>;
    try {
      made = await openCalls();
    } catch (error) {
      const reason = cutOf(attempt);
      if (reason === 'stop') return stopped();
      throw reason === undefined ? error : new AttemptOver({ kind: reason, known: chunks.known() });
    }
    const inTurn = inOrder(reply.calls, [...made.opened, ...handed.opened]);
    const opened = deferAsks(ref.sessionId, inTurn);
    const used = addUsage(addUsage(request.used, compactions?.usage()), usage);
    const outcome = toOutcome({
      ref,
      invalidFinishes: claim.invalidFinishes,
      open: opened
        .map(({ call }) => call)
        .filter(isOpen)
        .map((call) => toRef(agent, call, ref.runId)),
      hasCalls: opened.length > 0 || awaitsProvider(agent, reply.fold.parts, call?.rows),
      owesResult: finish !== undefined,
      result: accepted ? 'valid' : handed.isInvalid ? 'invalid' : 'none',
      isEnd: made.isEnd,
      spent: toSpent(used),
      isSpent: hasReached(agent.spendCap, used),
    });
    return store([...opened, ...closeUnmade()], outcome, { answersStop: false, ...accepted });
  }

  /** Checks the calls of the reply, which the agent may repair. @throws once the attempt is cut */
  async function openCalls(): Promise<{ opened: OpenedCall[]; isEnd: boolean }> {
    // A model that must submit its result is offered no other tool.
    const { tools = [] } = call ?? {};
    const repaired =
      call === undefined
        ? reply.calls
        : await repairCalls(agent, call, reply.calls, attempt.signal, (error) => {
            warn('a call could not be repaired', error);
          });
    const asked = repaired.filter(({ toolName }) => toolName !== FINISH_TOOL_NAME);
    const now = Date.now();
    const { maxCallsPerStep: most = LIMITS.callsPerStep } = agent;
    const carried = await Promise.all(
      asked.map(async (each, n) =>
        n < most ? openCall(scope, tools, each, now) : refuseBeyond(scope, each, most, now),
      ),
    );
    const ends = await endsOf(carried);
    const opened = carried.map((each) =>
      ends.has(each.call.toolCallId) ? endWith(scope, each, now) : each,
    );
    return { opened, isEnd: ends.size > 0 };
  }

  /** Returns the calls that end the run. @throws once the attempt is cut */
  async function endsOf(carried: readonly OpenedCall[]): Promise<ReadonlySet<string>> {
    const calls = carried.map(({ call }) => call);
    const asked = calls.filter((call) => call.kind === 'client' && isOpen(call));
    if (asked.length === 0) return new Set();
    const { rows = [] } = call ?? {};
    const step = toRow(withCalls(reply, calls, ref.runId));
    try {
      return await findEnds(agent, { rows, step }, asked, untilStalled(request.step));
    } catch (error) {
      if (cutOf(attempt) !== undefined) throw error;
      // The page is asked anyway; a failure of the condition counts before the next step.
      warn('a stop condition failed', error);
      return new Set();
    }
  }

  async function over(): Promise<StepDone> {
    const outcome: StepOutcome = { kind: 'ended', step: ref.step, status: 'completed' };
    return store([], outcome, { answersStop: false, isUnasked: true });
  }

  /** Closes calls that never completed after their arguments were streamed: people saw them. */
  function closeUnmade(): OpenedCall[] {
    const made = new Set(reply.calls.map(({ toolCallId }) => toolCallId));
    const why = { code: 'invalid_tool_input', text: 'The model broke off this call.' };
    return reply.fold.parts
      .filter(isCallPart)
      .filter(({ kind }) => kind !== 'provider')
      .filter(({ toolCallId, toolName }) => !made.has(toolCallId) && toolName !== FINISH_TOOL_NAME)
      .map((part) => closedCall(scope, part, partialInputOf(part), why, Date.now()));
  }

  async function stopped(): Promise<StepDone> {
    const record = await deps.store.sessions.read(ref.sessionId);
    const mode = record?.stop?.mode ?? 'interrupt';
    const status: TerminalStatus = mode === 'abort' ? 'aborted' : 'interrupted';
    const outcome: StepOutcome = { kind: 'ended', step: ref.step, status };
    return store(closeAll(CUT_CALLS.stopped), outcome, { answersStop: true, interrupted: mode });
  }

  async function failed({
    code,
    message,
    retryable,
    newest = code,
  }: ProviderFailure): Promise<StepDone> {
    const error: RunError = { code, message, retryable };
    const outcome: StepOutcome = { kind: 'ended', step: ref.step, status: 'failed', error };
    return store(closeAll(CUT_CALLS.failed), outcome, {
      answersStop: true,
      interrupted: 'failure',
      ...(isOfPrompt(newest) && { refused: newest }),
    });
  }

  function closeAll(why: { code: string; text: string }): OpenedCall[] {
    const { parts } = reply.fold;
    const open = parts.filter(isCallPart).filter((part) => !isCarriedOut(parts, part));
    return open.map((part) => {
      const closed = closedCall(scope, part, partialInputOf(part), why, Date.now());
      return part.toolName === FINISH_TOOL_NAME ? { ...closed, chunks: [] } : closed;
    });
  }

  function partialInputOf({ toolCallId }: CallPart): unknown {
    const made = reply.calls.find((call) => call.toolCallId === toolCallId);
    return toPartialInput(made?.input ?? reply.fold.argumentText.get(toolCallId));
  }

  async function store(
    opened: OpenedCall[],
    outcome: StepOutcome,
    {
      interrupted,
      isUnasked = false,
      refused,
      ...ending
    }: Pick<CommitInput, 'answersStop' | 'output'> & {
      interrupted?: Interruption;
      isUnasked?: boolean;
      /** Code of a refusal; the next turn omits the new parts. */
      refused?: string;
    },
  ): Promise<StepDone> {
    const now = Date.now();
    const calls = opened.map(({ call }) => call);
    const parts = withCalls(reply, calls, ref.runId);
    // A reply that was cut before its first part leaves no visible row.
    const isEmpty = parts.length === 0 && (isUnasked || interrupted !== undefined);
    const finish = reply.finish();
    const compaction = compactions?.made();
    const row: AssistantRow | undefined =
      isEmpty && refused === undefined
        ? undefined
        : {
            ...toRow(parts),
            interrupted,
            ...toNotes(parts, call, refused),
            ...(isEmpty && { display: true }),
            ...(compaction !== undefined && { compaction }),
          };
    const checkpointId = formatCheckpointId(ref.runId, ref.step);
    const shown = { isShown: reply.begun(), hasRow: row !== undefined && row.display !== true };
    const result = owned(
      await deps.store.steps.commit({
        writer,
        known: chunks.known(),
        row,
        calls,
        chunks: [
          ...openingChunks(scope, now, shown),
          ...opened.flatMap(({ chunks }) => chunks),
          ...closingChunks(scope, checkpointId, now, {
            ...shown,
            interrupted,
            ...(finish && { finish: { usage: finish.usage, finishReason: finish.reason } }),
          }),
        ],
        outcome,
        checkpointId,
        usage,
        finishReason: finish?.reason,
        model: call?.name ?? modelNameOf(agent.llmConfig),
        ...finalOf(outcome),
        ...ending,
        now,
      }),
    );
    if (result.kind === 'committed' || result.kind === 'steered') {
      for (const listener of request.listeners) listener.recorded?.(usage);
    }
    switch (result.kind) {
      case 'committed':
      case 'steered': {
        const { sequence, at } = result;
        if (!('step' in outcome)) return outcome;
        const { step } = ref;
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

  function toRow(parts: AssistantRow['parts']): AssistantRow {
    const finish = reply.finish();
    const kept = readsSteps(agent) && {
      usage: finish?.usage,
      finishReason: finish?.reason,
      answered: request.answered?.(),
    };
    return { role: 'assistant', messageId, runId: ref.runId, step: ref.step, parts, ...kept };
  }

  return { complete, over, stopped, failed };
}

/** Returns notes for later prompts: the model bound to the parts, its limits, and its refusal. */
function toNotes(
  parts: AssistantRow['parts'],
  call: ModelCall | undefined,
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

function textOf({ fold }: StepReply): string {
  return fold.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function finalOf(outcome: StepOutcome): Pick<CommitInput, 'final'> {
  if (outcome.kind !== 'ended') return {};
  const { status, error } = outcome;
  return { final: { status, error } };
}

const isOpen = (call: NewCall): boolean => call.row === undefined;

/** Returns opened calls in the model's order. */
function inOrder(asked: readonly ProposedCall[], opened: readonly OpenedCall[]): OpenedCall[] {
  const byId = new Map(opened.map((each) => [each.call.toolCallId, each]));
  return asked.flatMap(({ toolCallId }) => byId.get(toolCallId) ?? []);
}

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

function isCallPart(part: AssistantPart): part is CallPart {
  return part.type === 'tool-call';
}

/** Combines positions of calls, from the fold, with their checked inputs, from `calls`. */
function withCalls(
  { fold, deferredCalls }: Pick<StepReply, 'fold' | 'deferredCalls'>,
  calls: NewCall[],
  runId: string,
): AssistantPart[] {
  const byId = new Map(calls.map((call) => [call.toolCallId, call]));
  return fold.parts.flatMap((part): AssistantPart[] => {
    if (part.type !== 'tool-call') return [part];
    const call = byId.get(part.toolCallId);
    if (call === undefined && part.kind === 'provider') return [part];
    // The arguments never became a call.
    if (call === undefined) return [];
    const { toolName, kind, input } = call;
    return [
      {
        ...part,
        // The repair may have chosen another tool.
        toolName,
        kind,
        input,
        ...(kind === 'approval' && { approvalId: formatApprovalId(runId, call.toolCallId) }),
        ...(call.ask !== undefined
          ? { held: true }
          : deferredCalls.has(call.toolCallId) && { late: true }),
      },
    ];
  });
}

/** Returns true while a call waits for a result that its provider gives in a later reply. */
function awaitsProvider(
  { tools }: AgentDefinition,
  parts: readonly AssistantPart[],
  rows: readonly Row[] = [],
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
