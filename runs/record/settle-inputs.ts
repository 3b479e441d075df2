import type { ToolAnswer } from '../../protocol/answers.js';
import type { ChunkOf } from '../../protocol/chunk.js';
import { formatApprovalId, rootOf } from '../../protocol/ids.js';
import { LIMITS, startOf } from '../../protocol/limits.js';
import type { KnownPerson } from '../../protocol/actor.js';
import type { AnswerWay, Decision, ToolRow } from '../../protocol/rows.js';
import type { CallSpec, OpenCall } from '../../store/contract/call-record.js';
import type { SettleCallInput } from '../../store/contract/calls.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import { toAct } from './acts.js';

/** Converts answers, and their absence, to inputs of `settleCall`. Pure. */

type Asker = Pick<
  SessionRecord,
  'sessionId' | 'agent' | 'committedStep' | 'conversationStep' | 'tenant'
>;
type Asked = Pick<CallSpec, 'toolCallId' | 'toolName' | 'runId'> & Partial<Pick<CallSpec, 'kind'>>;

export const TIMED_OUT = {
  error: 'client_tool_deadline_exceeded',
  errorCode: 'client_tool_timeout',
};

const UNANSWERED = 'No one answered in time.';

/**
 * @param asker the session whose run asked
 * @param permitted true if the answer was checked, and the one who gives it was found to be permitted
 */
export function toAnswerInput(
  answer: ToolAnswer,
  asker: Asker,
  asked: Asked & Pick<Partial<CallSpec>, 'input' | 'edited'>,
  given: {
    now: number;
    via?: AnswerWay;
    approver?: KnownPerson | undefined;
    permitted?: boolean;
  },
): SettleCallInput {
  const { now, via, approver, permitted } = given;
  const { edited } = asked;
  const base = { ...toBase(asker, asked, now), permitted, shownEdit: edited?.n };
  if (answer.kind === 'approval-response') {
    const { approved, reason, by } = answer;
    const isOwn = isChanged(answer.input, asked.input);
    const wanted = isOwn ? answer.input : asked.input;
    const isAnother = isOwn || (edited !== undefined && isChanged(wanted, edited.from));
    const decision: Decision = {
      approved,
      reason,
      by,
      via,
      at: now,
      input: approved && isAnother ? wanted : undefined,
      ...(approved && isAnother && !isOwn && { inputBy: edited?.by }),
    };
    const decided = toDecided(asker, asked, decision, now);
    return { source: 'approval', ...base, approver, ...decided };
  }
  const outcome =
    answer.error === undefined
      ? { output: answer.result ?? null }
      : { error: answer.error, errorCode: 'client_tool_failed' };
  return {
    source: 'client',
    ...base,
    ...toSettled(asker, asked, outcome, now, via),
    late: toLateText(outcome),
  };
}

/** Creates the outcome that the tool defines for a call without an answer. */
export function toExpiryInput(call: OpenCall, asker: Asker, now: number): SettleCallInput {
  const { spec, state } = call;
  const { toolCallId, toolName, runId } = spec;
  const asked = { tenant: asker.tenant, runId, toolCallId, toolName };
  const act = toAct('expire', { via: 'auto' }, asked, now);
  const base = { ...toBase(asker, spec, now), act };
  const { kind, onExpiry } = spec;
  if (state === 'suspended') {
    return { source: 'expiry', ...base, ...toHookResult(call, asker, TIMED_OUT, now) };
  }
  if (kind === 'approval') {
    const approved = onExpiry === 'approve';
    const decision = { approved, reason: UNANSWERED, at: now, automatic: true };
    return { source: 'expiry', ...base, ...toDecided(asker, spec, decision, now) };
  }
  const outcome = typeof onExpiry === 'object' ? { output: onExpiry.result ?? null } : TIMED_OUT;
  return { source: 'expiry', ...base, ...toSettled(asker, spec, outcome, now) };
}

function toBase({ sessionId, agent }: Asker, { toolCallId, runId }: Asked, now: number) {
  return { sessionId, agentType: agent, toolCallId, runId, now };
}

function toDecided(asker: Asker, asked: Asked, decision: Decision, now: number) {
  const { toolCallId, toolName, runId } = asked;
  const { approved, reason, by, input, automatic } = decision;
  const row: ToolRow = { role: 'tool', toolCallId, toolName, denied: true, decision };
  const chunk: ChunkOf<'tool_approval_response'> = {
    type: 'tool_approval_response',
    ...toAuthor(asker, now),
    toolCallId,
    toolName,
    approvalId: formatApprovalId(runId, toolCallId),
    approved,
    reason,
    ...(automatic === true && { isAutomatic: true }),
    by,
    input,
  };
  return { decision, ...(!approved && { row }), chunks: [chunk] };
}

type Outcome = { output: unknown } | { error: string; errorCode: string };

function toSettled(
  asker: Asker,
  { toolCallId, toolName, kind }: Asked,
  outcome: Outcome,
  now: number,
  via?: AnswerWay,
) {
  const row: ToolRow = { role: 'tool', toolCallId, toolName, via, ...outcome };
  const chunk: ChunkOf<'tool_end'> = {
    type: 'tool_end',
    ...toAuthor(asker, now),
    toolCallId,
    toolName,
    ...('error' in outcome ? { result: null, ...outcome } : { result: outcome.output }),
    ...(kind === 'client' && { byClient: true }),
  };
  return { row, chunks: [chunk] };
}

/** Creates the settlement by a request to the call's webhook. An unknown call gets no chunks. */
export function toHookInput(
  call: OpenCall | undefined,
  asked: Asked,
  asker: Asker,
  { secret, output }: { secret: string; output: unknown },
  now: number,
): SettleCallInput {
  const { toolCallId, toolName, runId } = asked;
  const facts = { tenant: asker.tenant, runId, toolCallId, toolName };
  const act = toAct('result', { by: 'webhook', via: 'link' }, facts, now);
  const made =
    call === undefined
      ? { ...toSettled(asker, asked, { output }, now), chunks: [] }
      : toHookResult(call, asker, { output }, now);
  return { source: 'webhook', ...toBase(asker, asked, now), secret, ...made, act };
}

/** Creates the result of a call that waited for its webhook; an approved call's is a client's. */
function toHookResult(
  { spec, decision = spec.decision }: OpenCall,
  asker: Asker,
  outcome: Outcome,
  now: number,
): { row: ToolRow; chunks: ChunkOf<'tool_end'>[] } {
  const { row, chunks } = toSettled(asker, spec, outcome, now);
  const { sessionId: agentId, committedStep: step } = asker;
  const own = { agentId, step, providerExecuted: true } as const;
  return {
    row: { ...row, decision },
    chunks: spec.kind === 'server' ? chunks.map((chunk) => ({ ...chunk, ...own })) : chunks,
  };
}

/** The conversation's message shows a sub-agent's questions. */
function toAuthor(asker: Asker, timestamp: number) {
  const { sessionId, agent, committedStep, conversationStep = committedStep } = asker;
  return { agentId: rootOf(sessionId), agentType: agent, step: conversationStep, timestamp };
}

export function isChanged(input: unknown, asked: unknown): boolean {
  return input !== undefined && JSON.stringify(input) !== JSON.stringify(asked);
}

/** Writes the outcome as text for the conversation, cut to the size of a small result. */
function toLateText(outcome: Outcome): string {
  const text = 'error' in outcome ? outcome.error : JSON.stringify(outcome.output);
  const intro = 'error' in outcome ? 'The error was' : 'The result was';
  return `${intro}: ${startOf(text, LIMITS.inlineResultBytes / 4)}`;
}
