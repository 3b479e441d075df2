import type { OperatorWaitingSession } from '../../protocol/operator.js';
import { findChoices, keyOf } from '../../web/src/console/waiting-list.js';

it('nothing is decided together whose form a person has changed', () => {
  const pending = ['c1', 'c2', 'c3'].map((toolCallId) => ({
    toolCallId,
    inputHash: 'h',
    kind: 'approval',
    mayDecide: toolCallId !== 'c3',
  }));
  const sessions = [{ run: { runId: 's1:1-a' }, pending }] as unknown as OperatorWaitingSession[];
  const [first, second] = findChoices(sessions, new Set());
  expect([first?.toolCallId, second?.toolCallId]).toEqual(['c1', 'c2']);
  const changed = new Set([keyOf({ runId: 's1:1-a', toolCallId: 'c1', inputHash: 'h' })]);
  expect(findChoices(sessions, changed)).toEqual([second]);
});
