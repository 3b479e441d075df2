import { isTerminal, type RunStatus } from '../protocol/run.js';
import type { SessionRecord } from '../stores/contract/sessions.js';
import type { WorkflowState } from './run-workflows.js';

/** What a stop ends while its run waits is over in the record before its workflow hears of it. */
const STOPPED = new Set<RunStatus>(['interrupted', 'aborted']);

/** Answers that nobody took for this long are signalled again. */
const UNTAKEN_MS = 2_000;
/** A workflow is started beside the message that began its run; it gets this long. */
const STARTS_MS = 2_000;
/** A stop that no writer confirmed for this long, while it wrote nothing, is carried out without it. */
const UNCONFIRMED_MS = 2_000;
/** A run at work that has written something within this time is not looked up in Temporal. */
const FRESH_MS = 4_000;

export type SweepDecision =
  /** Nothing is active or waits. */
  | 'forget'
  | 'begin'
  /** Temporal has to be asked. */
  | 'look'
  | 'start'
  /** It was not started for so long that nobody expects an answer any more. */
  | 'give_up'
  | 'enforce'
  | 'wake'
  | 'expire'
  | 'fail'
  | 'stop'
  | 'nothing';

export interface SweepMoment {
  now: number;
  /** Runs that are not started within this time end. */
  startWithinMs: number;
}

/** What a session needs, by what the record and Temporal know of its run. Pure. */
export function decideSweep(
  record: SessionRecord | undefined,
  workflow: WorkflowState | undefined,
  { now, startWithinMs }: SweepMoment,
): SweepDecision {
  if (record === undefined) return 'forget';
  if (isTerminal(record.status)) {
    if (record.queued > 0) return 'begin';
    if (!STOPPED.has(record.status)) return 'forget';
    if (workflow === undefined) return 'look';
    return workflow === 'running' ? 'stop' : 'forget';
  }
  const silentMs = now - record.updatedAt;
  // The record alone says so: its workflow is told what it missed when it is asked.
  if (record.stop !== undefined && silentMs > UNCONFIRMED_MS) return 'enforce';
  if (workflow === undefined) return needsLook(record, now) ? 'look' : 'nothing';
  if (workflow === 'unknown') {
    const isOverdue = record.status === 'starting' && now - record.runStartedAt > startWithinMs;
    return isOverdue ? 'give_up' : 'start';
  }
  if (workflow === 'closed') return 'fail';
  if (isUntaken(record) && silentMs > UNTAKEN_MS) return 'wake';
  // Its own timer should have: the clock decides, and whoever comes first.
  return isExpired(record, now) ? 'expire' : 'nothing';
}

/** True for a run that may have lost something. */
function needsLook(record: SessionRecord, now: number): boolean {
  const silentMs = now - record.updatedAt;
  if (record.status === 'starting') return now - record.runStartedAt > STARTS_MS;
  if (isUntaken(record)) return silentMs > UNTAKEN_MS;
  return record.stream === 'paused' || isExpired(record, now) || silentMs > FRESH_MS;
}

function isUntaken({ resume, resumeTaken, wakes }: SessionRecord): boolean {
  return (resume !== undefined && resumeTaken !== true) || wakes !== undefined;
}

function isExpired({ deadline }: SessionRecord, now: number): boolean {
  return deadline !== undefined && deadline <= now;
}
