import type { StreamMessage } from '../../../protocol/chunk.js';
import type { UserRow } from '../../../protocol/rows.js';
import { isTerminal, type Resumption } from '../../../protocol/run.js';
import type { SettleCallInput, SettleCallResult } from '../../transitions.js';
import { settleCallWith } from '../calls.js';
import { toJson, type Json } from '../json.js';
import { write } from '../log.js';
import { speakerOf, type Speaker } from '../own-chunks.js';
import { pauseIfWaiting, resumeIfAnswered } from '../pause.js';
import type { LapsedCall, MemoryCall, MemoryRun, MemorySession, StoreContext } from '../session.js';

/** The one result of a call, or a person's decision about it; the first one wins. */
export function settleCall(
  session: MemorySession,
  input: SettleCallInput,
  chunks: readonly Json<StreamMessage>[],
  context: StoreContext,
): SettleCallResult {
  const { run, log } = session;
  const { source, toolCallId } = input;
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
  const refusal = isLate ? undefined : refuse(session, call, input, context.now);
  if (refusal !== undefined) return refusal;

  for (const chunk of chunks) write(log, source === 'tool' ? input.writer.name : '', chunk);
  session.updatedAt = input.now;
  const decision = 'decision' in input ? input.decision : undefined;
  if (decision !== undefined) call.decision = toJson(decision);
  if (decision?.approved === true) call.state = 'approved';
  else if (input.row !== undefined) settleCallWith(session, toolCallId, toJson(input.row));
  if (source !== 'tool') call.hasTimedOut = source === 'expiry';

  const who = speakerFor(input, run);
  let resume: Resumption | undefined;
  if (source === 'tool') pauseIfWaiting(session, run, who, context.now);
  else if (!isLate) resume = resumeIfAnswered(session, run, who);
  return { kind: 'stored', sequence: log.sequence, ...(resume !== undefined && { resume }) };
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

function speakerFor(input: SettleCallInput, run: MemoryRun): Speaker {
  if (input.source === 'tool') return speakerOf(input.writer, input.now);
  const { sessionId, agentType, now } = input;
  return { agentId: sessionId, agentType, step: run.committedStep, now };
}
