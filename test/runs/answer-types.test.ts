import type { RunHandle } from '../../runs/run-handle.js';
import type { ToolAnswerInput } from '../../protocol/answers.js';

const target = { sessionId: 's', toolCallId: 'c' };

/** Compiled, never run: `npm run types` fails when a line below it stops being an error. */
export function answerWrongly(handle: RunHandle): void {
  // @ts-expect-error -- An approval needs its kind.
  void handle.submitToolResult({ toolCallId: 'c', approved: true });
  // @ts-expect-error -- A decision has no result.
  void handle.submitToolResult({ toolCallId: 'c', approved: true, result: 1 });
  // @ts-expect-error -- A decision has no result.
  void handle.submitToolResult({
    kind: 'approval-response',
    toolCallId: 'c',
    approved: true,
    result: 1,
  });
  // @ts-expect-error -- Neither a result nor an error.
  void handle.submitToolResult({ toolCallId: 'c' });
  // @ts-expect-error -- Both a result and an error.
  void handle.answer('c', { result: 1, error: 'no' });
  // @ts-expect-error -- A denial changes no input.
  void handle.deny('c', { input: {} });
}

it('every kind of answer has a type that takes no other kind’s fields', () => {
  const answers: ToolAnswerInput[] = [
    { ...target, kind: 'approval-response', approved: true, input: { amount: 4 }, reason: 'ok' },
    { ...target, result: 1 },
    { ...target, kind: 'client-tool-result', error: 'no' },
  ];
  expect(answers).toHaveLength(3);
});
