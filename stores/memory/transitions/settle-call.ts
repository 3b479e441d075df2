import type { StreamMessage } from '../../../protocol/chunk.js';
import type { Row, UserRow } from '../../../protocol/rows.js';
import { isTerminal } from '../../../protocol/run.js';
import type { SettleCallInput, SettleCallResult } from '../../contract/calls.js';
import { hasUnsettledCalls, settleCallWith } from '../calls.js';
import { finish } from '../finish.js';
import { toJson, type Json } from '../json.js';
import { write } from '../log.js';
import { restIfWaiting } from '../pause.js';
import { goOnAlone, resumeIfAnswered, type Released } from '../resume.js';
import type { LapsedCall, MemoryCall, MemoryRun, MemorySession, StoreContext } from '../session.js';
import { withEvents } from '../said-by-call.js';
import { stageChanges } from '../staging.js';
import { childOf, ownerOf } from '../tree.js';

/** The one result of a call, or a person's decision about it; the first one wins. */
export function settleCall(
  given: MemorySession,
  input: SettleCallInput,
  chunks: readonly Json<StreamMessage>[],
  context: StoreContext,
): SettleCallResult {
  const { source, toolCallId } = input;
  // Answers are given to the conversation, whoever of its agents asked.
  const session = ownerOf(given, toolCallId);
  const { run, log } = session;
  const call = session.calls.get(toolCallId);
  const tooLate = answerAfterTimeout(session, call, input);
  if (tooLate !== undefined) return tooLate;
  const isLate = call !== undefined && replacesTimeout(call, input);
  if (!isLate && (call?.state === 'settled' || session.settled.has(toolCallId))) {
    return { kind: 'already_completed' };
  }
  if (call === undefined) return { kind: 'not_pending' };
  const runId = source === 'tool' ? input.writer.runId : input.runId;
  if (run?.runId !== runId || isTerminal(run.status)) return { kind: 'stale_run' };
  // Nobody was asked yet.
  if (source !== 'tool' && call.ask !== undefined) return { kind: 'not_pending' };
  const refusal = isLate ? undefined : refuse(session, call, input, context.now);
  if (refusal !== undefined) return refusal;

  if (source === 'child') endChild(session, call, input.now, context);
  for (const chunk of chunks) write(log, source === 'tool' ? input.writer.name : '', chunk);
  session.updatedAt = input.now;
  session.root.updatedAt = input.now;
  const decision = 'decision' in input ? input.decision : undefined;
  if (decision !== undefined) call.decision = toJson(decision);
  if (decision?.approved === true) call.state = 'approved';
  else if (input.row !== undefined) {
    const row = toJson<Row>(input.row);
    const hasEvents = source === 'tool' && input.hasEvents === true;
    settleCallWith(session, toolCallId, hasEvents ? withEvents(session, toolCallId, row) : row);
  }
  if (source !== 'tool') call.hasTimedOut = source === 'expiry';

  if (input.source === 'tool') keepWork(session, run, input);

  const released = isLate ? {} : goOn(session, input, context.now);
  return { kind: 'stored', sequence: log.sequence, ...released };
}

/** Nobody waits for it any more: a sub-agent that was lost ends with its call. */
function endChild(
  session: MemorySession,
  call: MemoryCall,
  now: number,
  context: StoreContext,
): void {
  const child = childOf(session, call);
  if (child?.run === undefined) return;
  const { agent = '' } = child.identity ?? {};
  const who = { agentId: child.id, agentType: agent, step: child.run.committedStep, now };
  finish(child, child.run, who, { status: 'failed', code: 'run_failed' }, context);
}

/** A result may be the last thing to do before a rest, an answer the last one to wait for. */
function goOn(
  session: MemorySession,
  { source, now }: SettleCallInput,
  storeNow: number,
): Released {
  if (source === 'child' && session.root.stream === 'paused') {
    // The sub-agent was lost while it waited.
    const released = resumeIfAnswered(session, now);
    if (released.resume === undefined && !hasUnsettledCalls(session)) goOnAlone(session, now);
    return released;
  }
  if (source !== 'tool' && source !== 'child') return resumeIfAnswered(session, now);
  restIfWaiting(session, now, storeNow);
  return {};
}

/**
 * A person's answer to a call that has timed out, unless it may still replace the timeout. Of a
 * client's, the model is told once.
 */
function answerAfterTimeout(
  { lapsed, notices }: MemorySession,
  call: MemoryCall | undefined,
  input: SettleCallInput,
): SettleCallResult | undefined {
  const { source, toolCallId } = input;
  if (source !== 'client' && source !== 'approval') return undefined;
  const taken = lapsed.get(toolCallId);
  if (source === 'client' && taken?.kind === 'client') {
    if (!taken.isTold) notices.push(toJson(toLateRow(input, taken)));
    taken.isTold = true;
    return { kind: 'late' };
  }
  const { kind, hasTimedOut = false } = call ?? {};
  const isApproval = taken?.kind === 'approval' || (hasTimedOut && kind === 'approval');
  return isApproval ? { kind: 'expired' } : undefined;
}

function toLateRow(
  { toolCallId, late = '' }: Extract<SettleCallInput, { source: 'client' }>,
  { toolName }: LapsedCall,
): UserRow {
  const text = `The call "${toolCallId}" of "${toolName}" was answered after its time limit. ${late}`;
  return { role: 'user', id: `late-${toolCallId}`, hidden: true, parts: [{ type: 'text', text }] };
}

/** What a tool leaves beside its result. */
function keepWork(
  session: MemorySession,
  run: MemoryRun,
  { writer, toolCallId, changes = [], output, now }: Extract<SettleCallInput, { source: 'tool' }>,
): void {
  if (changes.length > 0) {
    const staged = { toolCallId, patches: changes, timestamp: now };
    stageChanges(session, `s${String(writer.step)}`, staged);
  }
  if (output !== undefined) run.output ??= toJson(output);
}

/** A client's result replaces its timeout until the model has been told of it. */
function replacesTimeout({ kind, hasTimedOut }: MemoryCall, { source }: SettleCallInput): boolean {
  return source === 'client' && kind === 'client' && hasTimedOut;
}

function refuse(
  session: MemorySession,
  { kind, state, deadline = Infinity }: MemoryCall,
  input: SettleCallInput,
  storeNow: number,
): SettleCallResult | undefined {
  if (input.source === 'tool') {
    const { name, token } = input.writer;
    const isOwner = session.writers.get(name)?.token === token;
    return isOwner && state === 'started' ? undefined : { kind: 'fenced' };
  }
  if (input.source === 'child') return kind === 'subagent' ? undefined : { kind: 'kind_mismatch' };
  const isAsked = kind === 'approval' || kind === 'client';
  if (!isAsked || !isAnswerTo(kind, input)) return { kind: 'kind_mismatch' };
  if (state !== 'waiting') return { kind: 'already_completed' };
  if (input.source === 'approval' && storeNow >= deadline) return { kind: 'expired' };
  if (input.source === 'expiry' && storeNow < deadline) {
    const dueInMs = deadline - storeNow;
    return { kind: 'not_due', ...(dueInMs < Infinity && { dueInMs }) };
  }
  return undefined;
}

function isAnswerTo(kind: 'approval' | 'client', input: SettleCallInput): boolean {
  if (input.source === 'approval') return kind === 'approval';
  // An approval may be answered with an error: then it is not carried out.
  if (input.source === 'client') return kind === 'client' || input.row.error !== undefined;
  return true;
}
