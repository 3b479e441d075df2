import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AnswerSignal, CallKind, CallRef, StepOutcome } from '../../protocol/run.js';
import {
  afterAnswers,
  afterStep,
  afterTools,
  INITIAL_CARRY,
  nextStep,
  releasedFor,
  takeAnswer,
} from '../../workflows/carry.js';

const ref = (toolCallId: string, kind: CallKind): CallRef => ({ toolCallId, toolName: 't', kind });
const [server, approval, client] = [
  ref('s', 'server'),
  ref('a', 'approval'),
  ref('c', 'client'),
] as const;
const asked = (...calls: CallRef[]): Extract<StepOutcome, { kind: 'calls' }> => ({
  kind: 'calls',
  step: 3,
  calls,
});
const cap = { maxSteps: 5 };
const nextModel = { do: 'model', step: 4 };

describe('what follows a step', () => {
  it.each([
    ['nothing open', asked(), nextModel],
    ['server tools', asked(server), { do: 'tools', calls: [server] }],
    ['server tools first', asked(approval, server), { do: 'tools', calls: [server] }],
    ['people', asked(approval, client), { do: 'wait', for: [approval, client] }],
    ['an end', { kind: 'ended', step: 3, status: 'failed' }, { do: 'done', status: 'failed' }],
    ['another run', { kind: 'superseded' }, { do: 'done', status: 'superseded' }],
    ['a wake-up too early', { kind: 'not_ready' }, { do: 'wait', for: [] }],
  ] as [string, StepOutcome, object][])('with %s', (_, outcome, next) => {
    expect(afterStep(outcome, cap)).toEqual(next);
  });

  it('after its tools is the wait for people, else the next step', () => {
    expect(afterTools(asked(server, approval), cap)).toEqual({ do: 'wait', for: [approval] });
    expect(afterTools(asked(server), cap)).toEqual(nextModel);
  });

  it('after answers is what was approved of this step, else the next step', () => {
    const both = asked(approval, ref('b', 'approval'));
    expect(afterAnswers(both, ['a'], cap)).toEqual({ do: 'tools', calls: [approval] });
    expect(afterAnswers(both, [], cap)).toEqual(nextModel);
    expect(afterAnswers(both, ['somebody else'], cap)).toEqual(nextModel);
  });

  it('at the step cap is the end, as completed', () => {
    expect(nextStep(4, 5)).toEqual({ do: 'model', step: 5 });
    expect(nextStep(5, 5)).toEqual({ do: 'end', status: 'completed' });
    expect(nextStep(6, 5)).toEqual({ do: 'end', status: 'completed' });
  });
});

describe('an answer', () => {
  it('moves the run only when it completes the batch of the current step', () => {
    const partial = takeAnswer(INITIAL_CARRY, { toolCallId: 'a', approved: true });
    expect(releasedFor(partial, 1)).toBeUndefined();
    const complete = takeAnswer(partial, {
      toolCallId: 'b',
      resume: { step: 1, approved: ['a', 'b'] },
    });
    expect(releasedFor(complete, 1)).toEqual(['a', 'b']);
    expect(releasedFor(complete, 2)).toBeUndefined();
  });

  it('that is garbage changes nothing, and never throws', () => {
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
        expect(rest).toEqual({ step: 0, stopRequested: false, known: 0 });
        if (released === undefined) return;
        expect(typeof released.step).toBe('number');
        expect(released.approved.every((id) => typeof id === 'string')).toBe(true);
      }),
    );
  });
});
