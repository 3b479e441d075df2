import type { At, StepOutcome } from '../protocol/run.js';
import type { StateReply, ToolCallOutcome } from '../protocol/temporal.js';

/** Work that returns the record's state after it. */
export type WithRunState<Work extends (...of: never[]) => Promise<object>> = (
  ...of: Parameters<Work>
) => Promise<Awaited<ReturnType<Work>> & StateReply>;

/** Outcome of a step, with the record's state if this attempt stored it. */
export type StepDone = StepOutcome & Partial<StateReply>;

/**
 * Returns the state of a run after work: as the work left it, if that changed the record, or as it is now. The next run
 * may meanwhile have replaced the one that ended.
 */
export async function afterWork(
  outcome: StepDone | ToolCallOutcome,
  next: () => Promise<At>,
): Promise<At> {
  if (outcome.at !== undefined) return outcome.at;
  const read = await next();
  if (outcome.kind !== 'ended' || read.next.do !== 'done' || read.next.status !== 'superseded') {
    return read;
  }
  const { step, status, error } = outcome;
  return { ...read, next: { do: 'done', step, status, ...(error !== undefined && { error }) } };
}
