import type { CallRef, Next } from '../../protocol/run.js';
import { beginningOf, isForLeg, withinCap } from '../../run/loop.js';

const SERVER: CallRef = { toolCallId: 's', toolName: 't', kind: 'server' };

it.each<[boolean, Next]>([
  [true, { do: 'model', step: 1 }],
  [true, { do: 'end', step: 1 }],
  [false, { do: 'done', step: 1, status: 'completed' }],
  [true, { do: 'open', step: 1, machine: ['s'], calls: [SERVER] }],
  [false, { do: 'open', step: 1 }],
  [false, { do: 'open', step: 1, machine: ['s'], children: ['d'] }],
  [false, { do: 'open', step: 1, machine: ['s'], people: ['a'] }],
  [false, { do: 'open', step: 1, machine: ['s'], asleep: ['t'] }],
  [false, { do: 'open', step: 1, machine: ['s'], calls: [{ ...SERVER, kind: 'subagent' }] }],
  [false, { do: 'open', step: 1, machine: ['s'], calls: [{ ...SERVER, activity: {} }] }],
])('a leg can carry on (%s) from %j', (can, next) => {
  expect(isForLeg(next)).toBe(can);
});

describe('the step cap', () => {
  const cap = { maxSteps: 5 };
  const model = (step: number, more = {}): Next => ({ do: 'model', step, ...more });

  it('ends a run, or has it asked for the required result', () => {
    expect(withinCap(model(5), cap)).toEqual(model(5));
    expect(withinCap(model(6), cap)).toEqual({ do: 'end', step: 5 });
    expect(withinCap(model(6), { ...cap, hasOutput: true })).toEqual(
      model(6, { mustFinish: true }),
    );
    expect(withinCap(model(3, { mustFinish: true }), cap)).toEqual({ do: 'end', step: 2 });
  });

  it('leaves a run that continues a turn its first step', () => {
    expect(withinCap(model(6, { isFirst: true }), cap)).toEqual(model(6, { isFirst: true }));
  });

  it('a run begins after the steps of its turn; one that has seen its record, or waits, looks at it', () => {
    const input = {
      sessionId: 's',
      runId: 'r',
      agent: 'a',
      turn: 1,
      searchAttributes: false,
      ...cap,
    };
    const from = { step: 3, known: 7 };
    expect(beginningOf({ ...input, from }, 0)).toEqual({
      version: 0,
      sequence: 7,
      next: model(4, { isFirst: true }),
    });
    const seen = beginningOf({ ...input, from: { ...from, version: 9 } }, 0);
    expect(seen).toEqual({ version: 9, sequence: 7, next: { do: 'open', step: 3, dueInMs: 0 } });
    expect(beginningOf({ ...input, startAt: 50 }, 20).next).toEqual({
      do: 'open',
      step: 0,
      dueInMs: 30,
    });
  });
});
