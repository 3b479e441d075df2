import type {
  AnswerSignal,
  CallRef,
  RunInput,
  Resumption,
  RunProgress,
  StepOutcome,
  TerminalStatus,
} from './run.js';

/**
 * The decisions of a run: pure functions `(carry, event) → next`. The workflow carries them out, or
 * an activity that carries a run from one rest to the next; Redis is the record.
 */
export interface Carry {
  /** Number of steps committed so far in this turn. */
  step: number;
  /** The last step that opened calls. */
  asked: CallsOutcome | undefined;
  /** Calls released by completed batches of answers or by waits that are over, by step. */
  released: readonly Resumption[];
  stopRequested: boolean;
  /**
   * Highest sequence that the run has seen; a store that is behind it was restored from a backup.
   */
  known: number;
  /** How often the model submitted a result that does not fit. */
  invalidFinishes: number;
  /** The model ended without its result and may now only submit that. */
  mustFinish: boolean;
  /** A result exists: the run ends once the calls of the step are settled. */
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
    isFinished: from?.isFinished ?? false,
  };
}

export type CallsOutcome = Extract<StepOutcome, { kind: 'calls' }>;

export type Next =
  | { do: 'model'; step: number; forceFinish?: true }
  /** Machines execute calls and people answer others at the same time. */
  | { do: 'calls'; step: CallsOutcome; machine: CallRef[]; people: CallRef[] }
  /** The calls of this step are not settled, and this execution does not know them. */
  | { do: 'wait'; step: number }
  | { do: 'end'; status: TerminalStatus }
  | { do: 'done'; status: TerminalStatus | 'superseded' };

type Cap = Pick<RunInput, 'maxSteps' | 'hasOutput'>;

/** Applies the outcome of a step. */
export function takeStep(carry: Carry, outcome: StepOutcome): Carry {
  if (outcome.kind !== 'calls' && outcome.kind !== 'ended') return carry;
  const known = learn({ ...carry, step: outcome.step }, outcome.sequence);
  if (outcome.kind === 'ended') return known;
  return {
    ...known,
    asked: outcome,
    mustFinish: known.mustFinish || outcome.mustFinish === true || outcome.finish === 'missing',
    isFinished: outcome.finish === 'valid',
    invalidFinishes:
      outcome.invalidFinishes ?? known.invalidFinishes + (outcome.finish === 'invalid' ? 1 : 0),
  };
}

/** What follows a step: its open calls, else the next step. */
export function afterStep(carry: Carry, asked: number, outcome: StepOutcome, cap: Cap): Next {
  switch (outcome.kind) {
    case 'ended':
      return { do: 'done', status: outcome.status };
    case 'superseded':
      return { do: 'done', status: 'superseded' };
    case 'not_ready': {
      // The wake-up came too early: the people that the step asked have not answered.
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

/** Applies what a leg has done, and says what follows. Signals may have changed the rest meanwhile. */
export function takeLeg(
  { released, stopRequested, asked, known }: Carry,
  { progress, next }: { progress: RunProgress; next: Next },
  cap: Cap,
): { carry: Carry; next: Next } {
  const carry: Carry = {
    ...learn(startingCarry(progress), known),
    released,
    stopRequested,
    asked: next.do === 'calls' ? next.step : asked,
  };
  // The people of a step that this execution knows are asked again.
  const follows =
    next.do === 'wait' ? afterStep(carry, next.step + 1, { kind: 'not_ready' }, cap) : next;
  return { carry, next: follows };
}

/** What follows once every call of a step is settled. */
export function afterCalls(carry: Carry, cap: Cap): Next {
  if (carry.isFinished) return { do: 'end', status: 'completed' };
  return nextStep(carry.step, cap, carry.mustFinish);
}

/**
 * The step cap ends a run as completed: finished work is kept. An agent that owes a result is asked
 * for it once more, and for nothing else.
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

/** True for calls that an activity for a whole leg of the run cannot execute. */
export function needsWorkflow({
  kind,
  activity,
  isSuspended,
}: Pick<CallRef, 'kind' | 'activity' | 'isSuspended'>): boolean {
  return kind === 'subagent' || activity !== undefined || isSuspended === true;
}

/** The approved calls among those of a step. */
export function approvedOf(calls: readonly CallRef[], approved: readonly string[]): CallRef[] {
  return calls.filter(({ toolCallId }) => approved.includes(toolCallId));
}

/**
 * Applies an `answer` signal; a malformed one changes nothing. A signal can be sent by hand, so it
 * only wakes the run: the store decides which calls are approved, and only activities report the
 * store's sequence. Batches are kept by step, so that one never replaces another.
 */
export function takeAnswer(carry: Carry, signal: Partial<AnswerSignal> | null | undefined): Carry {
  const resume = signal?.resume as { step?: unknown; approved?: unknown } | null | undefined;
  const { step, approved: ids } = resume ?? {};
  const { partial } = (resume ?? {}) as { partial?: unknown };
  if (!Number.isSafeInteger(step) || !Array.isArray(ids)) return carry;
  const others = carry.released.filter((one) => one.step >= carry.step && one.step !== step);
  const before = releasedFor(carry, step as number);
  const approved = new Set(before?.approved);
  for (const id of ids) if (typeof id === 'string') approved.add(id);
  // People have answered once: nothing that comes later takes it back.
  const isPartial = partial === true && (before === undefined || before.partial === true);
  const release: Resumption = { step: step as number, approved: [...approved] };
  return { ...carry, released: [...others, { ...release, ...(isPartial && { partial: true }) }] };
}

/** The call while its tool waits; undefined if the activity that executed it has another outcome. */
export function toSuspended(
  call: CallRef,
  outcome: { kind: string; dueInMs?: number; asks?: boolean },
): CallRef | undefined {
  if (outcome.kind !== 'suspended') return undefined;
  const { dueInMs, asks } = outcome;
  return { ...call, isSuspended: true, deadlineMs: dueInMs, ...(asks !== undefined && { asks }) };
}

/**
 * Removes the calls that a release lets continue: all but those whose tools wait for something else,
 * and those of which people are still asked.
 */
export function removeReleased(
  waiting: { keys: () => Iterable<CallRef>; delete: (call: CallRef) => unknown },
  { approved, partial }: Pick<Resumption, 'approved' | 'partial'>,
): void {
  for (const call of [...waiting.keys()]) {
    const staysAsked = call.isSuspended === true || partial === true;
    if (!staysAsked || approved.includes(call.toolCallId)) waiting.delete(call);
  }
}

/** Remembers the highest sequence that the store has reported. */
export function learn(carry: Carry, sequence: unknown): Carry {
  return typeof sequence === 'number' && sequence > carry.known
    ? { ...carry, known: sequence }
    : carry;
}

/** What a waiting run may continue with, if it has arrived. */
export function releasedFor(carry: Carry, step: number): Resumption | undefined {
  return carry.released.find((one) => one.step === step);
}

/** The batch of a step was taken; a later wake-up is a new one. */
export function takeReleased(carry: Carry, step: number): Carry {
  return { ...carry, released: carry.released.filter((one) => one.step > step) };
}

/** The step with which an execution begins. */
export function firstStep({ step, mustFinish }: Carry, cap: Cap): Next {
  const next = nextStep(step, cap, mustFinish);
  return next.do === 'model' ? next : { do: 'model', step: step + 1 };
}

/** What the next execution of the run needs to know. */
export function toProgress(carry: Carry): RunProgress {
  const { step, known, invalidFinishes, mustFinish, isFinished } = carry;
  return {
    step,
    known,
    invalidFinishes,
    ...(mustFinish && { mustFinish }),
    ...(isFinished && { isFinished }),
  };
}
