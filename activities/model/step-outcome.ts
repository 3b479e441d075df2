import type { CallRef, RunError, Spent, StepOutcome } from '../../protocol/run.js';
import { LIMITS } from '../../protocol/limits.js';
import type { StepRef } from '../../protocol/temporal.js';

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
  isEnd: boolean;
  spent: Spent | undefined;
  /** True if the run has reached its spend cap. */
  isSpent: boolean;
}

type Finish = Extract<StepOutcome, { kind: 'calls' }>['finish'];

/** Decides what follows a complete reply. Pure. */
export function toOutcome(replied: RepliedStep): StepOutcome {
  const { ref, open, hasCalls, owesResult, result, isEnd, isSpent } = replied;
  const { step, forceFinish = false } = ref;
  const invalidFinishes = (replied.invalidFinishes ?? 0) + (result === 'invalid' ? 1 : 0);
  const spent = replied.spent && { spent: replied.spent };
  const ended = (error?: RunError): StepOutcome => ({
    kind: 'ended',
    step,
    ...(error === undefined ? { status: 'completed' } : { status: 'failed', error }),
    ...spent,
  });
  // Later steps continue from these facts in the record.
  const calls = (finish?: Finish): StepOutcome => ({
    kind: 'calls',
    step,
    calls: open,
    ...(finish !== undefined && { finish }),
    ...(invalidFinishes > 0 && { invalidFinishes }),
    ...((forceFinish || isEnd) && { mustFinish: true }),
    ...spent,
  });
  if (owesResult ? result === 'valid' : isEnd) return open.length === 0 ? ended() : calls('valid');
  if (!owesResult && !hasCalls) return ended();
  const fault = owesResult ? findFault(ref, result, invalidFinishes) : undefined;
  if (fault !== undefined) return ended(fault);
  if (isSpent) return ended(SPEND_CAP_REACHED);
  if (owesResult && result === 'invalid') return calls('invalid');
  return hasCalls ? calls() : calls('missing');
}

/** Returns the error of a run that owes a result and cannot continue. */
function findFault(
  { step, maxSteps, forceFinish = false }: RepliedStep['ref'],
  result: RepliedStep['result'],
  invalidFinishes: number,
): RunError | undefined {
  // No call follows the one beyond the cap.
  if (step > maxSteps) return OUTPUT_MISSING;
  if (result === 'none') return forceFinish ? OUTPUT_MISSING : undefined;
  return invalidFinishes >= LIMITS.invalidFinishes ? INVALID_OUTPUT : undefined;
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
