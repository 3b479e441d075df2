import { isTerminal } from '../protocol/run.js';
import type { SessionRecord } from '../stores/session-store.js';
import type { WorkflowState } from './run-workflows.js';

/** Answers that nobody took for this long are signalled again. */
const UNTAKEN_MS = 2_000;

/** What a session needs, by what the record and Temporal know of its run. Pure. */
export function decideSweep(
  record: SessionRecord | undefined,
  workflow: WorkflowState | undefined,
  now: number,
): 'forget' | 'begin' | 'look' | 'start' | 'wake' | 'expire' | 'fail' | 'nothing' {
  if (record === undefined) return 'forget';
  if (isTerminal(record.status)) return record.queued > 0 ? 'begin' : 'forget';
  if (workflow === undefined) return 'look';
  if (workflow === 'unknown') return 'start';
  if (workflow === 'closed') return 'fail';
  const isOwn = record.resume !== undefined && record.resumeTaken !== true;
  const isUntaken = isOwn || record.wakes !== undefined;
  if (isUntaken && now - record.updatedAt > UNTAKEN_MS) return 'wake';
  // Its own timer should have: the clock decides, and whoever comes first.
  return record.deadline !== undefined && record.deadline <= now ? 'expire' : 'nothing';
}
