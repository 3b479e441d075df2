import type { OpenCall } from '../../../store/contract/call-record.js';
import {
  toPendingCalls,
  toPendingQuestions,
  toSuspension,
} from '../../../store/record/session-summaries.js';

const callOf = (toolCallId: string, state: string, extra: object = {}, runId = 'r'): OpenCall =>
  ({
    spec: { toolCallId, toolName: 't', kind: 'approval', input: {}, runId, ...extra },
    state,
  }) as OpenCall;

describe('the calls of a paused run', () => {
  it.each([
    ['waits', [callOf('a', 'waiting')], 'suspended_client_tool'],
    ['waits for a webhook', [callOf('a', 'suspended')], 'suspended_client_tool'],
    ['has an answer', [callOf('a', 'waiting'), callOf('b', 'settled')], 'suspended_step_partial'],
    [
      'waits, and a sub-agent has an answer',
      [callOf('a', 'waiting'), callOf('b', 'settled', {}, 'child')],
      'suspended_client_tool',
    ],
    ['waits for a sub-agent', [callOf('a', 'waiting', {}, 'child')], 'suspended_awaiting_children'],
  ])('a run that %s says so', (_what, openCalls, kind) => {
    const record = { stream: 'paused', runId: 'r', committedStep: 1, pauseSequence: 4 };
    expect(toSuspension({ record, openCalls } as never)).toMatchObject({ kind, sequence: 4 });
  });

  it('a call that is held asks nobody yet', () => {
    const held = { ...callOf('b', 'waiting'), held: true };
    expect(Object.keys(toPendingCalls([callOf('a', 'waiting'), held]))).toEqual(['a']);
  });

  it('a question names who may answer, and whether the asker may not', () => {
    const approvers = { roles: ['boss'], separate: true };
    expect(toPendingQuestions([callOf('a', 'waiting', { approvers })])).toMatchObject([
      { toolCallId: 'a', approvers: ['boss'], separateApprover: true },
    ]);
  });
});
