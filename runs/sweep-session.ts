import { hasCode } from '../protocol/errors.js';
import { LIMITS, TIMES } from '../protocol/limits.js';
import { isTerminal, type RunStatus } from '../protocol/run.js';
import type { SessionRecord } from '../store/contract/sessions.js';
import type { Answers } from './record/answers.js';
import { STATE_LOST } from './record/force-end.js';
import { isUncontinued, startTimeOf } from './record/newest-run.js';
import type { RunsCore } from './deps.js';
import type { Starts } from './starts.js';
import type { Stops } from './stops.js';
import type { FindUnseen } from './unseen-attempts.js';
import { NOTHING, type WorkflowLook, type WorkflowState } from './workflow-look.js';

/**
 * State in which the sweep found a session. `idle`: nothing is active or waits. `active`: the sweep
 * looks again after `againMs`. `waiting`: for people; the next event notes the session as due.
 */
export type SweptSession =
  | { kind: 'idle' }
  | { kind: 'active'; againMs: number }
  | { kind: 'waiting'; untilDeadlineMs: number };

/** Remaining requests to Temporal that a sweep may send; each use takes one. */
export interface SweepBudget {
  looks: number;
  starts: number;
}

/** Longest back-off of wake-ups for a run that takes no answers. */
const SELDOM_MS = 60_000;
/**
 * Longest back-off of looks at a silent run. It bounds the time to find an attempt that Temporal
 * gives away after a long silence and no worker gets.
 */
const SILENT_MS = 30_000;
/** Longest back-off for a run that waits for sub-agents, whose record is silent while they work. */
const SUB_AGENTS_MS = 10_000;
/** A sweep looks at this many runs of one tree even if that exceeds its budget. */
const MAX_OF_TREE = 50;
const UNSTARTED_MS = 15_000;
/** Longest delay for a run whose workflow waits for its start. */
const UNBEGUN_MS = 60 * 60_000;

/**
 * Repairs one session: starts a run that was never started, wakes or stops one that missed the
 * signal, ends one that Temporal no longer runs or never accepted, settles calls past their
 * deadline, and begins the next queued message.
 */
export function createSweepSession(
  deps: RunsCore &
    Stops &
    Starts &
    Pick<Answers, 'expireCalls'> & {
      /** Undefined if workers have no leases. */
      findUnseen: FindUnseen | undefined;
      /** Resumes a fork's copy; false while the copy may not run. */
      continueCopy: (record: SessionRecord) => Promise<boolean>;
    },
): (sessionId: string, budget?: SweepBudget) => Promise<SweptSession> {
  const { store, workflows, startWithinMs = LIMITS.startWithinMs, times = TIMES, logger } = deps;
  const { lookAgainMs, forkMs } = times;
  const again: SweptSession = { kind: 'active', againMs: lookAgainMs };
  const decide = (record: SessionRecord | undefined, state?: FoundState): SweepDecision =>
    decideSweep(record, state, { now: Date.now(), startWithinMs, forkMs });

  /** Lets the run and those of its sub-agents read their records again. */
  async function wake(record: SessionRecord, below: Iterable<string> = []): Promise<void> {
    const others = (record.wakes ?? []).map(({ runId }) => runId);
    for (const runId of new Set([record.runId, ...others, ...below])) await workflows.wake(runId);
  }

  /** Looks at the run, then at its open sub-agents' runs; excess over the budget delays others. */
  async function lookBelow(
    record: SessionRecord,
    budget: SweepBudget,
  ): Promise<{ looks: Map<string, WorkflowLook>; state: FoundState }> {
    const first = await lookAt(record);
    const looks = new Map([[record.runId, first]]);
    let isAtWork = first.isAtWork;
    for (const { children } of looks.values()) {
      for (const child of children) {
        // Runs beyond the limit may be at work.
        if (looks.size >= MAX_OF_TREE) return { looks, state: first.state };
        budget.looks -= 1;
        const look = await workflows.look(child);
        looks.set(child, look);
        isAtWork ||= look.isAtWork;
      }
    }
    return { looks, state: first.state === 'running' && !isAtWork ? 'resting' : first.state };
  }

  /** Looks at a run; an overdue start is given up even while Temporal cannot be reached. */
  async function lookAt(record: SessionRecord): Promise<WorkflowLook> {
    try {
      return await workflows.look(record.runId);
    } catch (error) {
      const isAway = hasCode(error, 'unavailable');
      if (isAway && decide(record, 'unknown') === 'give_up') return NOTHING;
      throw error;
    }
  }

  async function act(
    decision: SweepDecision,
    record: SessionRecord,
    budget: SweepBudget,
    looks?: ReadonlyMap<string, WorkflowLook>,
  ): Promise<SweptSession> {
    const { sessionId, runId } = record;
    if (!UNREMARKABLE.has(decision)) deps.meter({ kind: 'session_swept', found: decision });
    switch (decision) {
      case 'begin':
        await deps.startNext(sessionId);
        return again;
      case 'continue':
        return (await deps.continueCopy(record)) ? again : toUnchanged(record, lookAgainMs);
      case 'start':
        if (budget.starts <= 0)
          return { kind: 'active', againMs: untilNextTry(record, lookAgainMs) };
        budget.starts -= 1;
        await deps.startRun(record);
        // A fresh execution finds the step that asked, and waits for answers already given.
        await wake(record);
        return again;
      case 'give_up':
        logger.warn({ runId }, 'a run was not started in time');
        await deps.endUnstarted(record);
        return again;
      case 'enforce':
        await deps.enforceStop(sessionId, runId);
        return again;
      case 'wake':
        await wake(record, looks?.keys());
        // Each signal stays in the run's history, so they back off.
        return toUnchanged(record, lookAgainMs, SELDOM_MS);
      case 'expire':
        await deps.expireCalls(sessionId);
        return again;
      case 'fail':
        logger.warn({ runId }, 'a run was closed in Temporal before it ended');
        // A store that has the run still active after that came back older.
        await deps.endLost(
          record,
          looks?.get(runId)?.hasCompleted === true ? STATE_LOST : undefined,
        );
        return again;
      case 'stop':
        await workflows.wake(runId, { ended: true });
        return { kind: 'idle' };
      case 'forget':
        return { kind: 'idle' };
      default:
        return toUnchanged(record, lookAgainMs);
    }
  }

  return async (sessionId, budget = { looks: Infinity, starts: Infinity }) => {
    const record = await store.sessions.read(sessionId);
    if (record === undefined) return { kind: 'idle' };
    const held: SweptSession = { kind: 'active', againMs: SELDOM_MS };
    // A run that was set to begin later may wait in its workflow, which no pause holds.
    const mayWait = startTimeOf(record) !== undefined;
    if (!mayWait && record.status === 'starting' && (await deps.isHeld(record))) return held;
    const first = decide(record);
    if (first !== 'look') return act(first, record, budget);
    if (budget.looks <= 0) return { kind: 'active', againMs: untilNextTry(record, lookAgainMs) };
    budget.looks -= 1;
    const { looks, state } = await lookBelow(record, budget);
    for (const [runId, look] of looks) deps.findUnseen?.(runId, look);
    // The run may have ended during the request to Temporal.
    const current = await store.sessions.read(sessionId);
    if (current?.runId !== record.runId) return again;
    // The inboxes' list is not in one transaction with the record.
    if (current.stream === 'paused') await store.waiting.note(sessionId);
    const isUnstarted = current.status === 'starting' && state === 'unknown';
    if (mayWait && isUnstarted && (await deps.isHeld(current))) return held;
    return act(decide(current, state), current, budget, looks);
  };
}

function toUnchanged(
  record: SessionRecord,
  lookAgainMs: number,
  mostMs = record.status === 'waiting_children' ? SUB_AGENTS_MS : SILENT_MS,
): SweptSession {
  const { stream, updatedAt, deadline = Infinity } = record;
  const now = Date.now();
  const untilStartMs = (startTimeOf(record) ?? 0) - now;
  if (untilStartMs > 0) return { kind: 'active', againMs: Math.min(untilStartMs, UNBEGUN_MS) };
  if (stream === 'paused') return { kind: 'waiting', untilDeadlineMs: Math.max(deadline - now, 0) };
  const againMs = Math.min(Math.max((now - updatedAt) / 2, lookAgainMs), mostMs);
  return { kind: 'active', againMs: Math.min(againMs, Math.max(deadline - now, lookAgainMs)) };
}

/** Returns the delay of the next try, which grows with the wait, so runs keep their order. */
function untilNextTry({ runStartedAt }: SessionRecord, lookAgainMs: number): number {
  return Math.min(Math.max((Date.now() - runStartedAt) / 4, lookAgainMs), UNSTARTED_MS);
}

const UNREMARKABLE = new Set<SweepDecision>(['forget', 'nothing', 'look']);

/** A stop that ends a waiting run ends it in the record before its workflow receives the signal. */
const STOPPED = new Set<RunStatus>(['interrupted', 'aborted']);

/** A run that should continue is woken after this time without a change of its record. */
const UNTAKEN_MS = 2_000;
/** The request that begins a run also starts its workflow; it gets this long. */
const STARTS_MS = 2_000;
/** Silence after which a stop that no writer confirmed is enforced. */
const UNCONFIRMED_MS = 2_000;
/** An active run is not looked up in Temporal within this time of its last change. */
const FRESH_MS = 4_000;

export type SweepDecision =
  | 'forget'
  | 'begin'
  /** The session is a fork's copy, whose process died before it resumed the copy. */
  | 'continue'
  | 'look'
  | 'start'
  | 'give_up'
  | 'enforce'
  | 'wake'
  | 'expire'
  | 'fail'
  | 'stop'
  | 'nothing';

export interface SweepMoment {
  now: number;
  startWithinMs: number;
  forkMs?: number;
}

/** `resting`: the workflow runs, and Temporal has nothing in progress for it or its sub-agents. */
export type FoundState = WorkflowState | 'resting';

/** Decides what a session needs from the states of its run in the record and in Temporal. Pure. */
export function decideSweep(
  record: SessionRecord | undefined,
  workflow: FoundState | undefined,
  { now, startWithinMs, forkMs = TIMES.forkMs }: SweepMoment,
): SweepDecision {
  if (record === undefined) return 'forget';
  if (isTerminal(record.status)) {
    if (record.queued > 0) return 'begin';
    if (isUncontinued(record)) return now - record.updatedAt > forkMs ? 'continue' : 'nothing';
    if (!STOPPED.has(record.status)) return 'forget';
    if (workflow === undefined) return 'look';
    return workflow === 'running' || workflow === 'resting' ? 'stop' : 'forget';
  }
  const silentMs = now - record.updatedAt;
  // The workflow need not be looked up: its next activity's reply tells it.
  if (record.stop !== undefined && silentMs > UNCONFIRMED_MS) return 'enforce';
  if (workflow === undefined) return needsLook(record, now) ? 'look' : 'nothing';
  if (workflow === 'unknown') {
    const since = Math.max(record.runStartedAt, startTimeOf(record) ?? 0);
    const isOverdue = record.status === 'starting' && now - since > startWithinMs;
    return isOverdue ? 'give_up' : 'start';
  }
  if (workflow === 'closed') return 'fail';
  const isStranded = workflow === 'resting' && mustGoOn(record, now);
  if ((isStranded || isUntaken(record)) && silentMs > UNTAKEN_MS) return 'wake';
  // The workflow's timer should have settled the calls; the deadline holds without it.
  return isExpired(record, now) ? 'expire' : 'nothing';
}

function needsLook(record: SessionRecord, now: number): boolean {
  const silentMs = now - record.updatedAt;
  if (record.status === 'starting') return now - record.runStartedAt > STARTS_MS;
  if (isUntaken(record)) return silentMs > UNTAKEN_MS;
  return record.stream === 'paused' || isExpired(record, now) || silentMs > FRESH_MS;
}

/** Returns true if the record demands an action now; a resting workflow has missed it, or knows more. */
function mustGoOn(record: SessionRecord, now: number): boolean {
  return record.stream !== 'paused' && (startTimeOf(record) ?? 0) <= now;
}

function isUntaken({ resume, resumeTaken, wakes }: SessionRecord): boolean {
  return (resume !== undefined && resumeTaken !== true) || wakes !== undefined;
}

function isExpired({ deadline }: SessionRecord, now: number): boolean {
  return deadline !== undefined && deadline <= now;
}
