import type { Actor } from '../../protocol/actor.js';
import { notAsShown, type ToolAnswer } from '../../protocol/answers.js';
import { parseApprovalId, rootOf, sessionOfRun } from '../../protocol/ids.js';
import { toPerson, type KnownPerson } from '../../protocol/responder.js';
import { isAsShown, type ShownCall } from '../../protocol/shown-call.js';
import { noteBeside } from '../../store/contract/due.js';
import type { CallEdit, CallSpec, OpenCall } from '../../store/contract/call-record.js';
import type { ExtendDeadlineResult, SettleCallResult } from '../../store/contract/calls.js';
import type { SessionCalls, SessionRecord } from '../../store/contract/sessions.js';
import type { Store } from '../../store/contract/store.js';
import { toAct, toAnswerAct } from './acts.js';
import { toPendingQuestions } from '../../store/record/session-summaries.js';
import { isChanged, toAnswerInput, toExpiryInput } from './settle-inputs.js';

export interface AnswerDeps {
  store: Pick<Store, 'calls' | 'due' | 'sessions'>;
  /**
   * Checks the answer to a pending call against its tool, and returns the answer to store.
   *
   * @throws HelixError if it does not fit; nothing is stored, and the call still waits
   */
  check: (
    of: Pick<SessionRecord, 'agent' | 'owner'>,
    call: CallSpec,
    answer: ToolAnswer,
  ) => Promise<ToolAnswer>;
  /**
   * Checks that the author of an answer may give it, be it in time or late.
   *
   * @throws HelixError `not_allowed`; nothing is stored, and the call still waits
   */
  permit: (conversation: SessionRecord, call: CallSpec, answer: ToolAnswer) => Promise<void>;
}

export interface SubmitOptions {
  /** Roles of the person, whose name is in the answer, and the channel. */
  actor?: Omit<Actor, 'by'> | undefined;
  /** The answered session as the caller has just read it; the transition decides in any case. */
  known?: Partial<SessionCalls> | undefined;
  /** The verified person, passed to the approved tool. */
  approver?: KnownPerson | undefined;
  /** The answer is in a posted message of a chat; see `isAsShown`. */
  isPosted?: boolean | undefined;
  /** True if there is no other person who could approve a change. */
  isEveryone?: boolean | undefined;
}

export type AnswerResult = Exclude<SettleCallResult, { kind: 'fenced' | 'not_due' }>;

export interface SubmittedAnswer {
  result: AnswerResult;
  /** The run that asked; the session's newest one for an unknown call. */
  runId: string;
  /** The session whose run asked, before the answer. */
  record?: SessionRecord;
}

/**
 * Answers a pending call of a session or of its sub-agents.
 *
 * @throws HelixError `not_pending`, with the pending call, for an answer to another state of it;
 * the errors of `check` and `permit`
 */
export async function submitAnswer(
  { store, check, permit }: AnswerDeps,
  answer: ToolAnswer,
  now: number,
  { actor = {}, known = {}, approver, isPosted, isEveryone }: SubmitOptions = {},
): Promise<SubmittedAnswer> {
  const { sessionId, toolCallId } = answer;
  const [call, conversation] = await readCall(store, answer, known);
  const owner = call === undefined ? sessionId : sessionOfRun(call.spec.runId);
  const record = owner === sessionId ? conversation : await store.sessions.read(owner);
  if (record === undefined) return { result: { kind: 'not_pending' }, runId: '' };
  const isWaiting = call?.state === 'waiting';
  const runId = (isWaiting ? undefined : namedRun(answer)) ?? call?.spec.runId ?? record.runId;
  const done = (result: AnswerResult): SubmittedAnswer => ({ result, runId, record });
  if (!isWaiting && namesAnother(answer)) return done({ kind: 'not_pending' });
  const isPermitted = isWaiting || isLate(call, answer);
  if (isPermitted) {
    await permit(conversation ?? record, call.spec, answer);
    requireAsShown(answer, call, isPosted);
  }
  const isFitting = isWaiting && fits(call.spec, answer);
  const checked = isFitting ? await check(record, call.spec, answer) : answer;
  const target = { ...(call?.spec ?? { toolCallId, toolName: '' }), runId };
  const via = actor.via === 'temporal' ? actor.via : undefined;
  const { by } = answer;
  const named = by === undefined ? undefined : toPerson(by, { tenantId: record.tenant });
  // Temporal does not say who sends an update.
  const who = via === undefined ? (approver ?? named) : undefined;
  const act = toAnswerAct(checked, { ...actor, by }, target, record.tenant, now);
  const edit = call && isEveryone !== true ? toEdit(checked, call.spec, now, who) : undefined;
  const input = {
    ...toAnswerInput(checked, record, target, { now, via, approver: who, permitted: isPermitted }),
    ...(edit !== undefined && { edit }),
    act,
  };
  // The wake-up or the audit entry may be lost, and the sweeper rarely checks waiting sessions.
  const noted = noteBeside(store.due, rootOf(sessionId), WAKE_CHECK_MS);
  // An unknown call gets no chunks.
  const settling = call === undefined ? { ...input, chunks: [] } : input;
  const result = await store.calls.settle(settling, noted);
  if (result.kind === 'fenced' || result.kind === 'not_due') {
    throw new Error(`an answer was refused as ${result.kind}`);
  }
  return done(result);
}

/** Reads the call, and a record of the answered session that is no older than the call's run. */
async function readCall(
  { calls, sessions }: AnswerDeps['store'],
  { sessionId, toolCallId }: ToolAnswer,
  { record, openCalls }: Partial<SessionCalls>,
): Promise<[OpenCall | undefined, SessionRecord | undefined]> {
  if (openCalls !== undefined && record !== undefined) {
    return [openCalls.find(({ spec }) => spec.toolCallId === toolCallId), record];
  }
  const [call, read] = await Promise.all([
    calls.read(sessionId, toolCallId),
    record ?? sessions.read(sessionId),
  ]);
  // An earlier read may be of an earlier run, which others have asked for.
  const isOlder = record !== undefined && record.runId !== call?.spec.runId;
  return [call, isOlder ? await sessions.read(sessionId) : read];
}

/** Delay before the sweeper checks a session whose call is settled, in case the signal is lost. */
const WAKE_CHECK_MS = 3_000;

/** True for a client's late answer to a settled call, of which the model may still learn. */
function isLate(call: OpenCall | undefined, answer: ToolAnswer): call is OpenCall {
  return call?.state === 'settled' && call.spec.kind === 'client' && fits(call.spec, answer);
}

/** @throws HelixError `not_pending`, which says what waits */
function requireAsShown(shown: ShownCall, call: OpenCall, isPosted?: boolean): void {
  if (isAsShown(shown, call.spec, isPosted)) return;
  throw notAsShown(toPendingQuestions([call])[0]);
}

/** A deadline that a person extends. */
export interface ExtendInput extends Actor, ShownCall {
  sessionId: string;
  toolCallId: string;
  /** Time to add, ms. */
  byMs: number;
  /** Reason, for the audit trail. */
  reason?: string | undefined;
}

/**
 * Extends a pending call's deadline. The run's timer fires at the old one, then reads the new.
 *
 * @throws HelixError `not_pending` for a call that is not as it was shown; what `permit` throws
 */
export async function extendDeadline(
  { calls, due }: Pick<Store, 'calls' | 'due'>,
  { sessionId, toolCallId, byMs, reason, approvalId, inputHash, ...actor }: ExtendInput,
  permit: (call: CallSpec) => Promise<void> = () => Promise.resolve(),
): Promise<ExtendDeadlineResult & { runId: string }> {
  const call = await calls.read(sessionId, toolCallId);
  if (call?.state === 'waiting') {
    await permit(call.spec);
    requireAsShown({ approvalId, inputHash }, call);
  }
  const { deadline = 0, spec } = call ?? {};
  const runId = spec?.runId ?? `${sessionId}:0-none`;
  if (spec !== undefined) await due.note(rootOf(sessionId), WAKE_CHECK_MS);
  const now = Date.now();
  const facts = { runId, toolCallId, toolName: spec?.toolName, detail: { byMs }, reason };
  const asker = { sessionId: sessionOfRun(runId), runId };
  const act = toAct('extend', actor, facts, now);
  const result = await calls.extendDeadline({ ...asker, toolCallId, byMs, deadline, now, act });
  return { ...result, runId };
}

/** Returns a changed input that must wait for another person's approval. */
function toEdit(
  answer: ToolAnswer,
  call: CallSpec,
  at: number,
  person: KnownPerson | undefined,
): CallEdit | undefined {
  if (answer.kind !== 'approval-response' || !answer.approved) return undefined;
  if (call.approvers?.separate !== true || !isChanged(answer.input, call.input)) return undefined;
  const { input, by } = answer;
  return { n: (call.edited?.n ?? 0) + 1, input, by, person, at };
}

/** Returns the run that asked, if the answer names it. */
function namedRun({ approvalId }: ToolAnswer): string | undefined {
  return approvalId === undefined ? undefined : parseApprovalId(approvalId)?.runId;
}

/** Returns true for an approval id that is malformed or another call's. */
function namesAnother({ approvalId, toolCallId }: ToolAnswer): boolean {
  if (approvalId === undefined) return false;
  return parseApprovalId(approvalId)?.toolCallId !== toolCallId;
}

function fits({ kind }: CallSpec, answer: ToolAnswer): boolean {
  return answer.kind === 'approval-response' ? kind === 'approval' : kind === 'client';
}

export interface Expiry {
  /** Calls that were settled now, in order. */
  settled: {
    toolCallId: string;
    runId: string;
    result: Extract<SettleCallResult, { kind: 'stored' }>;
  }[];
  /** ms until the next deadline, by the store's clock. */
  nextDueMs?: number;
  /** The shortest wait that has not begun because its question is not asked yet, ms. */
  unaskedMs?: number;
}

/**
 * Settles calls that were not answered in time, as their tools define. The store's clock decides
 * whether a deadline has passed.
 */
export async function expireCalls(
  store: Pick<Store, 'sessions' | 'calls' | 'due'>,
  calls: readonly OpenCall[],
  now: number,
): Promise<Expiry> {
  const expiry: Expiry = { settled: [] };
  for (const call of calls) {
    const { spec, state, deadline } = call;
    const { toolCallId, runId, deadlineMs } = spec;
    if (state !== 'suspended' && (state !== 'waiting' || deadlineMs === undefined)) continue;
    if (deadline === undefined) {
      expiry.unaskedMs = Math.min(expiry.unaskedMs ?? Infinity, deadlineMs ?? Infinity);
      continue;
    }
    const record = await store.sessions.read(sessionOfRun(runId));
    if (record === undefined) continue;
    // This process may die before the run resumes and the audit trail has the act.
    if (deadline <= now) await store.due.note(rootOf(record.sessionId), WAKE_CHECK_MS);
    const result = await store.calls.settle(toExpiryInput(call, record, now));
    if (result.kind === 'stored') expiry.settled.push({ toolCallId, runId, result });
    if (result.kind === 'not_due' && result.dueInMs !== undefined) {
      expiry.nextDueMs = Math.min(expiry.nextDueMs ?? Infinity, result.dueInMs);
    }
  }
  return expiry;
}
