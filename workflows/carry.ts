import type {
  AnswerSignal,
  CallRef,
  RunInput,
  RunProgress,
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
  /** The last step that asked for calls. */
  asked: CallsOutcome | undefined;
  /** Approved calls that completed batches have released, by the step that asked. */
  released: readonly { step: number; approved: string[] }[];
  stopRequested: boolean;
  /** Highest sequence that was told: a store that has less was restored. */
  known: number;
  /** How often the model handed in a result that does not fit. */
  invalidFinishes: number;
  /** The model ended without its result: it is asked for that and nothing else. */
  mustFinish: boolean;
  /** A result is there: the run ends when the step's calls are settled. */
  isFinished: boolean;
}

export function startingCarry(from: RunProgress | undefined): Carry {
  return {
    step: from?.step ?? 0,
    asked: undefined,
    released: [],
    stopRequested: false,
    known: from?.known ?? 0,
    invalidFinishes: from?.invalidFinishes ?? 0,
    mustFinish: from?.mustFinish ?? false,
    isFinished: false,
  };
}

export type CallsOutcome = Extract<StepOutcome, { kind: 'calls' }>;

export type Next =
  | { do: 'model'; step: number; forceFinish?: true }
  /** What machines carry out and what people answer goes on side by side. */
  | { do: 'calls'; step: CallsOutcome; machine: CallRef[]; people: CallRef[] }
  /** The calls of this step are not settled yet, and nothing is known of them. */
  | { do: 'wait'; step: number }
  | { do: 'end'; status: TerminalStatus }
  | { do: 'done'; status: TerminalStatus | 'superseded' };

type Cap = Pick<RunInput, 'maxSteps' | 'hasOutput'>;

/** Takes in what a step came to. */
export function takeStep(carry: Carry, outcome: StepOutcome): Carry {
  if (outcome.kind !== 'calls' && outcome.kind !== 'ended') return carry;
  const known = learn({ ...carry, step: outcome.step }, outcome.sequence);
  if (outcome.kind === 'ended') return known;
  return {
    ...known,
    asked: outcome,
    mustFinish: known.mustFinish || outcome.finish === 'missing',
    isFinished: outcome.finish === 'valid',
    invalidFinishes: known.invalidFinishes + (outcome.finish === 'invalid' ? 1 : 0),
  };
}

/** What follows a step: the calls that it left open, else the next step. */
export function afterStep(carry: Carry, asked: number, outcome: StepOutcome, cap: Cap): Next {
  switch (outcome.kind) {
    case 'ended':
      return { do: 'done', status: outcome.status };
    case 'superseded':
      return { do: 'done', status: 'superseded' };
    case 'not_ready': {
      // A wake-up came too early: the people whom the step asked still have to answer.
      const { step, calls = [] } = carry.asked ?? {};
      const people = step === asked - 1 ? calls.filter(isAsked) : [];
      if (carry.asked === undefined || people.length === 0) return { do: 'wait', step: asked - 1 };
      return { do: 'calls', step: carry.asked, machine: [], people };
    }
    case 'calls': {
      const { calls } = outcome;
      if (calls.length === 0) return afterCalls(carry, cap);
      const people = calls.filter(isAsked);
      const machine = calls.filter((call) => !isAsked(call));
      return { do: 'calls', step: outcome, machine, people };
    }
  }
}

/** What follows once every call of a step is settled. */
export function afterCalls(carry: Carry, cap: Cap): Next {
  if (carry.isFinished) return { do: 'end', status: 'completed' };
  return nextStep(carry.step, cap, carry.mustFinish);
}

/**
 * The step cap ends a run as completed: what was done stays done. An agent that owes a result is
 * asked for it once more, and nothing else.
 */
export function nextStep(step: number, { maxSteps, hasOutput }: Cap, mustFinish = false): Next {
  if (step < maxSteps && !mustFinish) return { do: 'model', step: step + 1 };
  if (hasOutput === true) return { do: 'model', step: step + 1, forceFinish: true };
  return { do: 'end', status: 'completed' };
}

/** True for calls that a person or a page answers. */
export function isAsked({ kind }: Pick<CallRef, 'kind'>): boolean {
  return kind === 'approval' || kind === 'client';
}

/** Of a step's calls those that were approved. */
export function approvedOf(calls: readonly CallRef[], approved: readonly string[]): CallRef[] {
  return calls.filter(({ toolCallId }) => approved.includes(toolCallId));
}

/**
 * Takes an `answer` signal; garbage leaves the run as it is. A signal can be sent by hand, so it only
 * wakes: the store decides which calls are approved, and how far the store has come is learnt from
 * activities alone. Batches are kept by step: none takes the place of another, whatever its number.
 */
export function takeAnswer(carry: Carry, signal: Partial<AnswerSignal> | null | undefined): Carry {
  const resume = signal?.resume as { step?: unknown; approved?: unknown } | null | undefined;
  const { step, approved: given } = resume ?? {};
  if (!Number.isSafeInteger(step) || !Array.isArray(given)) return carry;
  const others = carry.released.filter((one) => one.step >= carry.step && one.step !== step);
  const approved = new Set(releasedFor(carry, step as number));
  for (const id of given) if (typeof id === 'string') approved.add(id);
  return { ...carry, released: [...others, { step: step as number, approved: [...approved] }] };
}

/** Takes note of how far the store has come. */
export function learn(carry: Carry, sequence: unknown): Carry {
  return typeof sequence === 'number' && sequence > carry.known
    ? { ...carry, known: sequence }
    : carry;
}

/** The batch that a waiting run may go on with, if it has come. */
export function releasedFor(carry: Carry, step: number): string[] | undefined {
  return carry.released.find((one) => one.step === step)?.approved;
}

/** The batch of a step was taken: a wake-up that comes from now on is a new one. */
export function takeReleased(carry: Carry, step: number): Carry {
  return { ...carry, released: carry.released.filter((one) => one.step > step) };
}

/** The step with which an execution begins. */
export function firstStep({ step, mustFinish }: Carry, cap: Cap): Next {
  const next = nextStep(step, cap, mustFinish);
  return next.do === 'model' ? next : { do: 'model', step: step + 1 };
}

/** What the next execution of the run needs to know. */
export function toProgress({ step, known, invalidFinishes, mustFinish }: Carry): RunProgress {
  return { step, known, invalidFinishes, ...(mustFinish && { mustFinish }) };
}
