import { isTerminal } from '../../../protocol/run.js';
import type { TakeOverInput, TakeOverResult } from '../../contract/steps.js';
import type { MemorySession } from '../session.js';

/** Makes the caller the owner of a run's writer that does not answer; what it wrote stays. */
export function takeOver(
  { run, writers }: MemorySession,
  { runId, name }: TakeOverInput,
): TakeOverResult {
  if (run?.runId !== runId || isTerminal(run.status)) return { kind: 'superseded' };
  const owned = writers.get(name);
  if (owned === undefined) return { kind: 'nothing' };
  const token = owned.token + 1;
  writers.set(name, { ...owned, token, batch: 0, batchSequence: 0 });
  return { kind: 'taken', token, first: owned.first };
}
