import type {
  AnswerSignal,
  CallRef,
  RunInput,
  StepOutcome,
  TerminalStatus,
} from '../protocol/run.js';

/**
 * The run's decisions: pure functions of what is known, `(carry, event) → next`. The workflow
 * carries them out; Redis remains the record.
 */
export interface Carry {
  /** Steps committed so far in this turn. */
  step: number;
  /** Approved calls that a completed batch has released, by the step that asked. */
  released: { step: number; approved: string[] } | undefined;
  stopRequested: boolean;
  /** Highest sequence that was told: a store that has less was restored. */
  known: number;
}

export const INITIAL_CARRY: Carry = {
  step: 0,
  released: undefined,
  stopRequested: false,
  known: 0,
};

export type Next =
  | { do: 'model'; step: number }
  | { do: 'tools'; calls: CallRef[] }
  | { do: 'wait'; for: CallRef[] }
  | { do: 'end'; status: TerminalStatus }
  | { do: 'done'; status: TerminalStatus | 'superseded' };

/** What follows a step: its server tools, else what people owe, else the next step. */
export function afterStep(outcome: StepOutcome, input: Pick<RunInput, 'maxSteps'>): Next {
  switch (outcome.kind) {
    case 'ended':
      return { do: 'done', status: outcome.status };
    case 'superseded':
      return { do: 'done', status: 'superseded' };
    case 'not_ready':
      return { do: 'wait', for: [] };
    case 'calls': {
      const server = outcome.calls.filter(({ kind }) => kind === 'server');
      if (server.length > 0) return { do: 'tools', calls: server };
      return afterTools(outcome, input);
    }
  }
}

/** What follows once no server tool of the step is open. */
export function afterTools(
  outcome: Extract<StepOutcome, { kind: 'calls' }>,
  { maxSteps }: Pick<RunInput, 'maxSteps'>,
): Next {
  const people = outcome.calls.filter(({ kind }) => kind !== 'server');
  if (people.length > 0) return { do: 'wait', for: people };
  return nextStep(outcome.step, maxSteps);
}

/** What follows a batch of answers: the calls that were approved. */
export function afterAnswers(
  outcome: Extract<StepOutcome, { kind: 'calls' }>,
  approved: readonly string[],
  { maxSteps }: Pick<RunInput, 'maxSteps'>,
): Next {
  const calls = outcome.calls.filter(({ toolCallId }) => approved.includes(toolCallId));
  return calls.length > 0 ? { do: 'tools', calls } : nextStep(outcome.step, maxSteps);
}

/** The step cap ends a run as completed: what was done stays done. */
export function nextStep(step: number, maxSteps: number): Next {
  return step >= maxSteps ? { do: 'end', status: 'completed' } : { do: 'model', step: step + 1 };
}

/**
 * Takes an `answer` signal. Only a completed batch of the current step moves the run; anything
 * else, garbage included, leaves it as it is.
 */
export function takeAnswer(carry: Carry, signal: AnswerSignal | undefined): Carry {
  // Signals can be sent by hand, so the type says little about what arrives.
  const resume = signal?.resume as { step?: unknown; approved?: unknown } | null | undefined;
  if (typeof resume?.step !== 'number' || !Array.isArray(resume.approved)) return carry;
  const approved = resume.approved.filter((id): id is string => typeof id === 'string');
  return learn({ ...carry, released: { step: resume.step, approved } }, signal?.sequence);
}

/** Takes note of how far the store has come. */
export function learn(carry: Carry, sequence: unknown): Carry {
  return typeof sequence === 'number' && sequence > carry.known
    ? { ...carry, known: sequence }
    : carry;
}

/** The batch that a waiting run may go on with, if it has come. */
export function releasedFor(carry: Carry, step: number): string[] | undefined {
  return carry.released?.step === step ? carry.released.approved : undefined;
}
