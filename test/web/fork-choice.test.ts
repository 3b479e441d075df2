import type { OperatorRunDetail } from '../../protocol/operator.js';
import { forkPoints } from '../../web/src/console/run-view.js';

type Steps = OperatorRunDetail['steps'];
type Call = Steps[number]['calls'][number];

const call = (toolCallId: string, state: Call['state'], kind: Call['kind'] = 'server'): Call => ({
  toolCallId,
  toolName: 'charge',
  kind,
  state,
});

describe('where a run can be forked', () => {
  it('after its message, and after each step whose calls all have results', () => {
    const first = { step: 1, calls: [call('c1', 'done'), call('c2', 'denied')] };
    const steps = (...calls: Call[]): Steps => [first, { step: 2, calls }];
    expect(forkPoints({ status: 'interrupted', steps: steps(call('c3', 'failed')) })).toEqual([
      0, 1, 2,
    ]);
    for (const state of ['waiting', 'open'] as const) {
      const waiting = steps(call('c3', 'done'), call('c4', state, 'approval'));
      expect(forkPoints({ status: 'waiting_approval', steps: waiting })).toEqual([0, 1]);
    }
    const searched = steps(call('c3', 'open', 'provider'));
    expect(forkPoints({ status: 'interrupted', steps: searched })).toEqual([0, 1, 2]);
  });

  it('a completed run has nothing left to do after its last step', () => {
    const steps = [
      { step: 1, calls: [] },
      { step: 2, calls: [] },
    ];
    expect(forkPoints({ status: 'completed', steps })).toEqual([0, 1]);
    expect(forkPoints({ status: 'completed', steps: [] })).toEqual([]);
  });
});
