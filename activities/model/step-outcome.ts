import type { CallRef, RunError, Spent, StepOutcome } from '../../protocol/run.js';
import { LIMITS } from '../../protocol/limits.js';
import type { StepRef } from '../../protocol/activities.js';

/** A step with a complete reply. */
export interface RepliedStep {
  ref: Pick<StepRef, 'step' | 'maxSteps' | 'forceFinish'>;
  /** Number of invalid results that the model submitted before this reply. */
  invalidFinishes: number | undefined;
  /** Calls that still have to execute. */
  open: CallRef[];
  /** True if there were calls, even if none is open. */
  hasCalls: boolean;
  /** True for agents with an output schema. */
  owesResult: boolean;
  result: 'valid' | 'invalid' | 'none';
  /** True if the run ends with one of the calls. */
  isEnd?: boolean;
  spent: Spent | undefined;
  /** True if the run has reached its spend cap. */
  isSpent: boolean;
}

/** Decides what follows a complete reply. Pure. */
export function toOutcome(replied: RepliedStep): StepOutcome {
  const decided = decide(replied);
  const outcome = decided.kind === 'calls' ? { ...decided, ...soFar(replied) } : decided;
  return replied.spent === undefined || !('step' in outcome)
    ? outcome
    : { ...outcome, spent: replied.spent };
}

/** Returns facts about results so far, for later steps that continue from the record. */
function soFar({
  ref,
  invalidFinishes: before = 0,
  result,
  isEnd,
}: RepliedStep): Pick<Extract<StepOutcome, { kind: 'calls' }>, 'invalidFinishes' | 'mustFinish'> {
  const invalidFinishes = before + (result === 'invalid' ? 1 : 0);
  return {
    ...(invalidFinishes > 0 && { invalidFinishes }),
    ...((ref.forceFinish === true || isEnd === true) && { mustFinish: true }),
  };
}

function decide(replied: RepliedStep): StepOutcome {
  const { ref, open, hasCalls, owesResult, result, isEnd = false, isSpent } = replied;
  const { step } = ref;
  const completed = { kind: 'ended', step, status: 'completed' } as const;
  if (owesResult ? result === 'valid' : isEnd) {
    return open.length === 0 ? completed : { kind: 'calls', step, calls: open, finish: 'valid' };
  }
  if (!owesResult && !hasCalls) return completed;
  const fault = owesResult ? findFault(replied) : undefined;
  if (fault !== undefined) return failed(step, fault);
  if (isSpent) return failed(step, SPEND_CAP_REACHED);
  if (owesResult && result === 'invalid') {
    return { kind: 'calls', step, calls: open, finish: 'invalid' };
  }
  return hasCalls
    ? { kind: 'calls', step, calls: open }
    : { kind: 'calls', step, calls: [], finish: 'missing' };
}

/** Returns the error of a run that owes a result and cannot continue. */
function findFault({ ref, invalidFinishes = 0, result }: RepliedStep): RunError | undefined {
  const { step, maxSteps, forceFinish = false } = ref;
  // No call follows the one beyond the cap.
  if (step > maxSteps) return OUTPUT_MISSING;
  if (result === 'none') return forceFinish ? OUTPUT_MISSING : undefined;
  return invalidFinishes + 1 >= LIMITS.invalidFinishes ? INVALID_OUTPUT : undefined;
}

function failed(step: number, error: RunError): StepOutcome {
  return { kind: 'ended', step, status: 'failed', error };
}

export const SPEND_CAP_REACHED: RunError = {
  code: 'spend_cap_reached',
  message: 'This reply has reached what it may cost.',
  retryable: false,
};

export const ATTEMPTS_EXHAUSTED: RunError = {
  code: 'attempts_exhausted',
  message: 'This step was begun several times, and each time its worker was lost.',
  retryable: false,
};

const OUTPUT_MISSING: RunError = {
  code: 'output_missing',
  message: 'The agent ended without its result.',
  retryable: true,
};

const INVALID_OUTPUT: RunError = {
  code: 'invalid_output',
  message: 'The agent handed in results that do not fit what was asked for.',
  retryable: true,
};
