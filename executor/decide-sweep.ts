import { isTerminal, type RunStatus } from '../protocol/run.js';
import type { SessionRecord } from '../stores/contract/sessions.js';
import type { WorkflowState } from './run-workflows.js';

/** What a stop ends while its run waits is over in the record before its workflow hears of it. */
const STOPPED = new Set<RunStatus>(['interrupted', 'aborted']);

/** Answers that nobody took for this long are signalled again. */
const UNTAKEN_MS = 2_000;

/** What a session needs, by what the record and Temporal know of its run. Pure. */
export function decideSweep(
  record: SessionRecord | undefined,
  workflow: WorkflowState | undefined,
  now: number,
): 'forget' | 'begin' | 'look' | 'start' | 'wake' | 'expire' | 'fail' | 'stop' | 'nothing' {
  if (record === undefined) return 'forget';
  if (isTerminal(record.status)) {
    if (record.queued > 0) return 'begin';
    if (!STOPPED.has(record.status)) return 'forget';
    if (workflow === undefined) return 'look';
    return workflow === 'running' ? 'stop' : 'forget';
  }
  if (workflow === undefined) return 'look';
  if (workflow === 'unknown') return 'start';
  if (workflow === 'closed') return 'fail';
  const isOwn = record.resume !== undefined && record.resumeTaken !== true;
  const isUntaken = isOwn || record.wakes !== undefined;
  if (isUntaken && now - record.updatedAt > UNTAKEN_MS) return 'wake';
  // Its own timer should have: the clock decides, and whoever comes first.
  return record.deadline !== undefined && record.deadline <= now ? 'expire' : 'nothing';
}
