import fc from 'fast-check';
import type { AnswerSignal, CallKind, CallRef, StepOutcome } from '../../protocol/run.js';
import {
  afterCalls,
  afterStep,
  approvedOf,
  firstStep,
  nextStep,
  releasedFor,
  removeReleased,
  takeReleased,
  startingCarry,
  takeAnswer,
  takeStep,
  toProgress,
  type CallsOutcome,
} from '../../protocol/carry.js';

const INITIAL_CARRY = startingCarry(undefined);
const ref = (toolCallId: string, kind: CallKind): CallRef => ({ toolCallId, toolName: 't', kind });
const [server, child, approval, client] = [
  ref('s', 'server'),
  ref('d', 'subagent'),
  ref('a', 'approval'),
  ref('c', 'client'),
] as const;
const asked = (...calls: CallRef[]): CallsOutcome => ({ kind: 'calls', step: 3, calls });
const cap = { maxSteps: 5 };
const nextModel = { do: 'model', step: 4 };

describe('what follows a step', () => {
  it.each([
    ['nothing open', asked(), nextModel],
    [
      'calls of every kind',
      asked(approval, server, client, child),
      {
        do: 'calls',
        step: asked(approval, server, client, child),
        machine: [server, child],
        people: [approval, client],
      },
    ],
    ['an end', { kind: 'ended', step: 3, status: 'failed' }, { do: 'done', status: 'failed' }],
    ['another run', { kind: 'superseded' }, { do: 'done', status: 'superseded' }],
    ['calls that nothing is known of', { kind: 'not_ready' }, { do: 'wait', step: 2 }],
  ] as [string, StepOutcome, object][])(
    'the transition that follows a step with %s is decided by the table',
    (_, outcome, next) => {
      expect(afterStep(takeStep(INITIAL_CARRY, outcome), 3, outcome, cap)).toEqual(next);
    },
  );

  it('a wake-up that comes too early asks the same question, so that approved calls are executed', () => {
    const carry = takeStep(INITIAL_CARRY, asked(approval, server));
    const notReady: StepOutcome = { kind: 'not_ready' };
    expect(afterStep(takeStep(carry, notReady), 4, notReady, cap)).toEqual({
      do: 'calls',
      step: asked(approval, server),
      machine: [],
      people: [approval],
    });
    expect(afterStep(carry, 3, notReady, cap)).toEqual({ do: 'wait', step: 2 });
  });

  it('a step whose call was the result ends the run once its calls are settled', () => {
    const finished: CallsOutcome = { ...asked(server), finish: 'valid' };
    expect(afterCalls(takeStep(INITIAL_CARRY, finished), cap)).toEqual({
      do: 'end',
      status: 'completed',
    });
    expect(afterCalls(takeStep(INITIAL_CARRY, asked(server)), cap)).toEqual(nextModel);
  });

  it('carry counts results that do not fit, over a new execution too', () => {
    const invalid: CallsOutcome = { ...asked(), finish: 'invalid' };
    const once = takeStep(INITIAL_CARRY, invalid);
    expect(afterStep(once, 3, invalid, cap)).toEqual(nextModel);
    const twice = takeStep(startingCarry(toProgress(once)), invalid);
    expect(twice).toMatchObject({ step: 3, invalidFinishes: 2, isFinished: false });
  });

  it('a step without the required result is followed by a step that asks for it, until it exists', () => {
    const owes = { ...cap, hasOutput: true };
    const forced = { ...nextModel, forceFinish: true };
    const missing: CallsOutcome = { ...asked(), finish: 'missing' };
    const carry = takeStep(INITIAL_CARRY, missing);
    expect(afterStep(carry, 3, missing, owes)).toEqual(forced);
    expect(firstStep(startingCarry(toProgress(carry)), owes)).toEqual(forced);
    const invalid: CallsOutcome = { ...asked(), finish: 'invalid' };
    expect(afterStep(takeStep(carry, invalid), 3, invalid, owes)).toEqual(forced);
  });

  it('of a new execution is the one after the last, also beyond the step cap', () => {
    const at = (step: number) => startingCarry({ step, known: 0 });
    expect(firstStep(at(0), cap)).toEqual({ do: 'model', step: 1 });
    expect(firstStep(at(5), { ...cap, hasOutput: true })).toEqual({
      do: 'model',
      step: 6,
      forceFinish: true,
    });
    expect(firstStep(at(5), cap)).toEqual({ do: 'model', step: 6 });
  });

  it('answers are followed by the approved calls of their step', () => {
    const calls = [approval, ref('b', 'approval')];
    expect(approvedOf(calls, ['a', 'another'])).toEqual([approval]);
    expect(approvedOf(calls, [])).toEqual([]);
  });

  it('a run at the step cap completes, or asks for the required result', () => {
    expect(nextStep(4, cap)).toEqual({ do: 'model', step: 5 });
    expect(nextStep(5, cap)).toEqual({ do: 'end', status: 'completed' });
    expect(nextStep(6, cap)).toEqual({ do: 'end', status: 'completed' });
    expect(nextStep(5, { ...cap, hasOutput: true })).toEqual({
      do: 'model',
      step: 6,
      forceFinish: true,
    });
  });
});

describe('an answer', () => {
  it('an answer moves the run only when it completes the batch of the current step', () => {
    const partial = takeAnswer(INITIAL_CARRY, { toolCallId: 'a', approved: true });
    expect(releasedFor(partial, 1)).toBeUndefined();
    const complete = takeAnswer(partial, {
      toolCallId: 'b',
      resume: { step: 1, approved: ['a', 'b'] },
    });
    expect(releasedFor(complete, 1)?.approved).toEqual(['a', 'b']);
    expect(releasedFor(complete, 2)).toBeUndefined();
  });

  it('a wait that is over takes no question off the list, and no answer back', () => {
    const timer = { toolCallId: '', resume: { step: 1, approved: ['s'], partial: true as const } };
    const alone = takeAnswer(INITIAL_CARRY, timer);
    expect(releasedFor(alone, 1)).toEqual({ step: 1, approved: ['s'], partial: true });
    const answer = { toolCallId: 'a', resume: { step: 1, approved: ['a'] } };
    const both = { step: 1, approved: ['s', 'a'] };
    expect(releasedFor(takeAnswer(alone, answer), 1)).toEqual(both);
    const again = takeAnswer(takeAnswer(INITIAL_CARRY, answer), timer);
    expect(releasedFor(again, 1)).toEqual({ step: 1, approved: ['a', 's'] });
    const call = (toolCallId: string, isSuspended: boolean): CallRef => ({
      toolCallId,
      toolName: 'x',
      kind: isSuspended ? 'server' : 'approval',
      ...(isSuspended && { isSuspended }),
    });
    const waiting = new Set([call('a', false), call('s', true), call('t', true)]);
    const left = (): string[] => [...waiting].map(({ toolCallId }) => toolCallId);
    removeReleased(waiting, { approved: ['s'], partial: true });
    expect(left()).toEqual(['a', 't']);
    removeReleased(waiting, { approved: ['a'] });
    expect(left()).toEqual(['t']);
  });

  it('an answer with wrong numbers does not block another one', () => {
    const wild = (step: number, sequence: number): AnswerSignal => ({
      toolCallId: '',
      sequence,
      resume: { step, approved: ['a'] },
    });
    const real: AnswerSignal = { toolCallId: 'b', resume: { step: 2, approved: ['b'] } };
    const at2 = startingCarry({ step: 2, known: 9 });
    const given = [wild(1e15, 1e15), real, wild(1, -5), wild(3, 1.5), wild(NaN, Infinity)];
    const carry = given.reduce(takeAnswer, at2);
    expect(carry.known).toBe(9);
    expect(releasedFor(carry, 2)?.approved).toEqual(['b']);
    // A second signal adds to the first, so that the calls of the first are executed too.
    expect(releasedFor(takeAnswer(carry, wild(2, 0)), 2)?.approved).toEqual(['b', 'a']);
    expect(releasedFor(takeReleased(carry, 2), 2)).toBeUndefined();
  });

  it('a malformed answer changes nothing, and never throws', () => {
    const Garbage = fc.oneof(
      fc.anything(),
      fc.record({ resume: fc.anything() }),
      fc.record({ resume: fc.record({ step: fc.anything(), approved: fc.anything() }) }),
      fc.record({
        resume: fc.record({ step: fc.integer(), approved: fc.array(fc.anything()) }),
      }),
    );
    fc.assert(
      fc.property(Garbage, (garbage) => {
        const carry = takeAnswer(INITIAL_CARRY, garbage as AnswerSignal);
        const { released, ...rest } = carry;
        expect({ ...rest, released: [] }).toEqual(INITIAL_CARRY);
        for (const { step, approved } of released) {
          expect(Number.isSafeInteger(step)).toBe(true);
          expect(approved.every((id) => typeof id === 'string')).toBe(true);
        }
      }),
    );
  });
});
