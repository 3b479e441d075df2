import { createAnswerCheck } from '../../agents/check-answer.js';
import type { AgentRegistry } from '../../agents/registry.js';
import { type Actor, toPerson, type KnownPerson, type Responder } from '../../protocol/actor.js';
import {
  notAsShown,
  parseToolAnswer,
  parseWebhookToken,
  type ToolAnswer,
  type UncheckedAnswer,
  type WebhookToken,
} from '../../protocol/answers.js';
import { HelixError } from '../../protocol/errors.js';
import { formatRunId, parseApprovalId, rootOf, sessionOfRun } from '../../protocol/ids.js';
import type { At } from '../../protocol/run.js';
import { isAsShown, type ShownCall } from '../../protocol/shown-call.js';
import { sleep } from '../../protocol/time.js';
import type { CallEdit, CallSpec, OpenCall, Wake } from '../../store/contract/call-record.js';
import type {
  ExtendDeadlineResult,
  LeaseCallResult,
  SettleCallResult,
} from '../../store/contract/calls.js';
import { noteInBackground } from '../../store/contract/due.js';
import type { SessionCalls, SessionRecord } from '../../store/contract/sessions.js';
import type { Store } from '../../store/contract/store.js';
import { toPendingQuestions } from '../../store/record/session-summaries.js';
import { toAct, toAnswerAct } from './acts.js';
import { createApproverDemands, type ApproverDemands } from './approver-demands.js';
import { isChanged, toAnswerInput, toExpiryInput, toHookInput } from './settle-inputs.js';

/**
 * Settles pending calls: by answers of people and pages, by webhooks, and by deadlines. The record
 * is written before the runs are woken; the sweeper repeats a signal that is lost.
 */
export interface Answers {
  /**
   * Answers a pending call of a session or of its sub-agents.
   *
   * @throws HelixError `validation_error`, `answer_too_large`, `invalid_result`, `invalid_input`,
   * `not_allowed`, `not_pending` with the pending call for an answer to another state of it, or
   * `unavailable` if a rule of the host does not decide in time; nothing is stored then, and the
   * call still waits
   */
  submit: (answer: UncheckedAnswer, options?: AnswerOptions) => Promise<SubmittedAnswer>;
  /**
   * Takes the body of the first request to a call's webhook as the call's result. Later ones have
   * no effect.
   *
   * @throws HelixError `not_found` for an address that was never given out, `webhook_closed` once the
   * wait is over without a request, `invalid_result` for what does not fit; the call still waits then.
   * `unavailable` while the tool still passes its address on: the sender is to repeat the request
   */
  callWebhook: (token: string, payload: unknown) => Promise<void>;
  /** Settles overdue calls, of `runId` only if given, even if their run's timer did not fire. */
  expireCalls: (sessionId: string, runId?: string) => Promise<boolean>;
  /**
   * Extends a deadline. The run's timer fires at the old one, then reads the new one.
   *
   * @throws HelixError `not_pending` for a call that is not as it was shown; for a call with
   * approvers `not_allowed`, as for an approval of it
   */
  extendDeadline: (
    input: ExtendInput,
    options?: Pick<AnswerOptions, 'responder'>,
  ) => Promise<ExtendDeadlineResult>;
  /** Leases a client tool's call to one of several pages for a limited time. */
  leaseCall: (input: {
    sessionId: string;
    toolCallId: string;
    /** Name of the page that executes the call. */
    holder: string;
    forMs: number;
  }) => Promise<LeaseCallResult>;
  /** True if a person meets the demands of a call's tool. @throws HelixError `unavailable` */
  mayApprove: ApproverDemands['areMet'];
}

export interface AnswerOptions {
  /** The answered session as the caller has just read it, and the call that it is reading: they save reads. */
  known?: (Partial<SessionCalls> & { call?: Promise<OpenCall | undefined> }) | undefined;
  /** The person's roles and the channel, for the audit trail. */
  actor?: Omit<Actor, 'by'> | undefined;
  /** The person as the host has verified it. Default: the `by` of the answer, without roles. */
  responder?: Responder | undefined;
  /** The answer is in a posted message of a chat; see `isAsShown`. */
  isPosted?: boolean | undefined;
  /** The host's own rule. @throws HelixError `not_allowed`, also about calls that demand nothing */
  permit?: ((conversation: SessionRecord, call: CallSpec) => Promise<void>) | undefined;
  /** Time of the answer, ms since the epoch. Default: now. */
  at?: number;
}

export type AnswerResult = Exclude<SettleCallResult, { kind: 'fenced' | 'not_due' }>;

export interface SubmittedAnswer {
  result: AnswerResult;
  /** The run that asked; the session's newest one for an unknown call. */
  runId: string;
  /** The session whose run asked, before the answer. */
  record?: SessionRecord;
}

export interface ExtendInput extends Actor, ShownCall {
  sessionId: string;
  toolCallId: string;
  /** Time to add, ms. */
  byMs: number;
  reason?: string | undefined;
}

export interface AnswersDeps extends WakeDeps {
  store: Pick<Store, 'calls' | 'due' | 'sessions'>;
  agents: Pick<AgentRegistry, 'get'>;
  /**
   * `api`: demands of tools on their approvers hold, and the run that was answered is woken. `run`:
   * the run itself passes the answers of Temporal's operators on. Temporal authorizes them but does
   * not name them, so demands cannot be checked.
   */
  host: 'api' | 'run';
  /** Time to hold a request to a webhook that comes too early, ms. */
  holdMs?: number;
}

/** Delay before the sweeper checks a session whose call is settled, in case the signal is lost. */
const WAKE_CHECK_MS = 3_000;
/** A request that comes before its call waits is held this long. */
const EARLY_MS = 5_000;
const LOOK_EVERY_MS = 200;

export function createAnswers(deps: AnswersDeps): Answers {
  const { store, agents, host, holdMs = EARLY_MS } = deps;
  const { calls, sessions, due } = store;
  const check = createAnswerCheck(agents);
  const demands = createApproverDemands({ store, agents });

  /** Has the sweeper check the session: the wake-up or the audit entry may be lost. */
  const note = (sessionId: string) => noteInBackground(due, rootOf(sessionId), WAKE_CHECK_MS);

  /** Wakes the run that was answered, and others of the conversation, if they may continue. */
  async function wake(
    runId: string,
    { resume, at, others = [] }: Pick<Settled, 'resume' | 'at' | 'others'>,
  ): Promise<void> {
    const isWoken = resume !== undefined && host === 'api';
    await wakeAll(deps, isWoken ? [{ runId, at }, ...others] : others);
  }

  async function submit(
    given: UncheckedAnswer,
    { known, actor = {}, responder, permit, isPosted, at: now = Date.now() }: AnswerOptions = {},
  ): Promise<SubmittedAnswer> {
    const answer = parseToolAnswer(given);
    const { sessionId, by } = answer;
    const [call, conversation] = await readCall(store, answer, known);
    const owner = call === undefined ? sessionId : sessionOfRun(call.spec.runId);
    const record = owner === sessionId ? conversation : await sessions.read(owner);
    if (record === undefined) return { result: { kind: 'not_pending' }, runId: '' };
    const isWaiting = call?.state === 'waiting';
    const runId = (isWaiting ? undefined : namedRun(answer)) ?? call?.spec.runId ?? record.runId;
    const done = (result: AnswerResult): SubmittedAnswer => ({ result, runId, record });
    if (!isWaiting && namesAnother(answer)) return done({ kind: 'not_pending' });
    const isPermitted = isWaiting || isLate(call, answer);
    if (isPermitted) {
      const shown = conversation ?? record;
      await permit?.(shown, call.spec);
      const who = responder ?? { userId: by ?? '' };
      if (host === 'api') await demands.require(who, shown, call.spec, answer);
      requireAsShown(answer, call, isPosted);
    }
    const isFitting = isWaiting && fits(call.spec, answer);
    const checked = isFitting ? await check(record, call.spec, answer) : answer;
    const target = { ...(call?.spec ?? { toolCallId: answer.toolCallId, toolName: '' }), runId };
    const approver = approverOf(record, responder, by);
    const mayEdit = call !== undefined && responder?.isEveryone !== true;
    const edit = mayEdit ? toEdit(checked, call.spec, now, approver) : undefined;
    const via = host === 'run' ? 'temporal' : undefined;
    const how = { now, via, approver, permitted: isPermitted } as const;
    const act = toAnswerAct(checked, { ...actor, by }, target, record.tenant, now);
    const input = {
      ...toAnswerInput(checked, record, target, how),
      ...(edit !== undefined && { edit }),
      // An unknown call gets no chunks.
      ...(call === undefined && { chunks: [] }),
      act,
    };
    const result = await calls.settle(input, note(sessionId));
    if (result.kind === 'fenced' || result.kind === 'not_due') {
      throw new Error(`an answer was refused as ${result.kind}`);
    }
    // The reply is written while the signal is on its way.
    if (result.kind === 'stored') void wake(runId, result);
    // A repeated answer may be the last one, whose signal was lost.
    else if (result.kind === 'already_completed') {
      void wake(record.runId, { resume: record.resume });
    }
    return done(result);
  }

  /** Returns the person for the approved tool. Temporal does not say who sends an update. */
  function approverOf(
    { tenant: tenantId }: SessionRecord,
    responder: Responder | undefined,
    by: string | undefined,
  ): KnownPerson | undefined {
    if (host === 'run') return undefined;
    if (responder !== undefined) return toPerson(responder.userId, responder);
    return by === undefined ? undefined : toPerson(by, { tenantId });
  }

  async function settleHook(
    { sessionId, toolCallId, secret }: WebhookToken,
    payload: unknown,
  ): Promise<{ runId: string; result: SettleCallResult }> {
    const call = await calls.read(sessionId, toolCallId);
    const runId = askerOf(sessionId, call);
    const record = await sessions.read(call === undefined ? sessionId : sessionOfRun(runId));
    if (record === undefined) throw unknownHook();
    let output = payload;
    // The call may begin to wait after this read; it must not take an unchecked answer then.
    if (call?.state === 'started' && call.hook === secret) {
      return { runId, result: { kind: 'not_due' } };
    }
    if (call?.state === 'suspended' && call.hook === secret) {
      const answer = { kind: 'client-tool-result' as const, sessionId, toolCallId };
      const checked = await check(record, call.spec, { ...answer, result: payload });
      if (checked.kind === 'client-tool-result') output = checked.result;
    }
    const asked = call?.spec ?? { toolCallId, toolName: '', runId };
    const input = toHookInput(call, asked, record, { secret, output }, Date.now());
    return { runId, result: await calls.settle(input, note(sessionId)) };
  }

  async function callWebhook(token: string, payload: unknown): Promise<void> {
    const parsed = parseWebhookToken(token);
    if (parsed === undefined) throw unknownHook();
    for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
      const { runId, result } = await settleHook(parsed, payload);
      switch (result.kind) {
        case 'stored':
          return wake(runId, result);
        case 'already_completed':
          return;
        case 'not_due':
          break;
        case 'expired':
        case 'stale_run':
          throw new HelixError('webhook_closed', 'Nothing waits for this webhook any more.');
        default:
          throw unknownHook();
      }
      // The worker may have died on the way to the wait. A 404 would be final for most senders.
      if (waitedMs >= holdMs) {
        throw new HelixError('unavailable', 'The tool does not wait yet; send the request again.');
      }
      await sleep(LOOK_EVERY_MS);
    }
  }

  async function expireCalls(sessionId: string, ofRun?: string): Promise<boolean> {
    const { openCalls = [] } = (await sessions.withCalls(sessionId)) ?? {};
    const now = Date.now();
    let isExpired = false;
    for (const call of openCalls) {
      const { state, deadline = Infinity } = call;
      const { runId, deadlineMs } = call.spec;
      const waits = state === 'suspended' || (state === 'waiting' && deadlineMs !== undefined);
      const mayBeDue = ofRun === undefined ? deadline <= now : runId === ofRun;
      if (!waits || !mayBeDue || deadline === Infinity) continue;
      const record = await sessions.read(sessionOfRun(runId));
      if (record === undefined) continue;
      // This process may die before the run resumes and the audit trail has the act.
      if (deadline <= now) await due.note(rootOf(sessionId), WAKE_CHECK_MS);
      const result = await calls.settle(toExpiryInput(call, record, now));
      if (result.kind !== 'stored') continue;
      isExpired = true;
      await wake(runId, result);
    }
    return isExpired;
  }

  async function extendDeadline(
    { sessionId, toolCallId, byMs, reason, approvalId, inputHash, ...actor }: ExtendInput,
    { responder = { userId: actor.by ?? '' } }: Pick<AnswerOptions, 'responder'> = {},
  ): Promise<ExtendDeadlineResult> {
    const call = await calls.read(sessionId, toolCallId);
    if (call?.state === 'waiting') {
      const conversation = host === 'api' ? await sessions.read(sessionId) : undefined;
      if (conversation !== undefined) {
        await demands.requireApprover(responder, conversation, call.spec);
      }
      requireAsShown({ approvalId, inputHash }, call);
    }
    const { deadline = 0, spec } = call ?? {};
    const runId = askerOf(sessionId, call);
    if (call !== undefined) await due.note(rootOf(sessionId), WAKE_CHECK_MS);
    const now = Date.now();
    const facts = { runId, toolCallId, toolName: spec?.toolName, detail: { byMs }, reason };
    const asker = { sessionId: sessionOfRun(runId), runId };
    const act = toAct('extend', actor, facts, now);
    return calls.extendDeadline({ ...asker, toolCallId, byMs, deadline, now, act });
  }

  return {
    submit,
    callWebhook,
    expireCalls,
    extendDeadline,
    leaseCall: async ({ sessionId, ...lease }) => {
      const runId = askerOf(sessionId, await calls.read(sessionId, lease.toolCallId));
      return calls.lease({ sessionId: sessionOfRun(runId), runId, ...lease });
    },
    mayApprove: demands.areMet,
  };
}

type Settled = Extract<SettleCallResult, { kind: 'stored' }>;

/** A run that may continue, and the state of its record, if known. */
export type Woken = Pick<Wake, 'runId'> & { at?: At | undefined };

export interface WakeDeps {
  /** Signals a run. Default: the sweeper wakes it. */
  wake?: ((run: Woken) => Promise<void>) | undefined;
  logger: { warn: (fields: object, message: string) => void };
}

/** Signals runs that may continue; the sweeper wakes a run whose signal is lost. */
export async function wakeAll(
  { wake, logger }: WakeDeps,
  runs: readonly Woken[] = [],
): Promise<void> {
  if (wake === undefined) return;
  const woken = runs.map((run) =>
    wake(run).catch((error: unknown) => {
      logger.warn({ err: error, runId: run.runId }, 'the run could not be signalled');
    }),
  );
  await Promise.all(woken);
}

/** Reads the call, and a record of the answered session that is no older than the call's run. */
async function readCall(
  { calls, sessions }: AnswersDeps['store'],
  { sessionId, toolCallId }: ToolAnswer,
  { record, openCalls, call: reading }: NonNullable<AnswerOptions['known']> = {},
): Promise<[OpenCall | undefined, SessionRecord | undefined]> {
  if (openCalls !== undefined && record !== undefined) {
    return [openCalls.find(({ spec }) => spec.toolCallId === toolCallId), record];
  }
  const [call, read] = await Promise.all([
    reading ?? calls.read(sessionId, toolCallId),
    record ?? sessions.read(sessionId),
  ]);
  // An earlier read may be of an earlier run, which others have asked for.
  const isOlder = record !== undefined && record.runId !== call?.spec.runId;
  return [call, isOlder ? await sessions.read(sessionId) : read];
}

function askerOf(sessionId: string, call: OpenCall | undefined): string {
  return call?.spec.runId ?? formatRunId(sessionId, 0, 'none');
}

/** Returns true for a client's late answer to a settled call, of which the model may still learn. */
function isLate(call: OpenCall | undefined, answer: ToolAnswer): call is OpenCall {
  return call?.state === 'settled' && call.spec.kind === 'client' && fits(call.spec, answer);
}

/** @throws HelixError `not_pending`, which says what waits */
function requireAsShown(shown: ShownCall, call: OpenCall, isPosted?: boolean): void {
  if (isAsShown(shown, call.spec, isPosted)) return;
  throw notAsShown(toPendingQuestions([call])[0]);
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

function unknownHook(): HelixError {
  return new HelixError('not_found', 'There is no such webhook.');
}
