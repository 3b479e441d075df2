import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import { toStepPreview } from '../../api/routes/reruns.js';

it('a step is known by what it wrote and called, not by how it handed its result in', () => {
  const calls = ['look', FINISH_TOOL_NAME].map((toolName) => ({ type: 'tool-call', toolName }));
  const parts = [{ type: 'text', text: 'Found it.' }, ...calls];
  expect(toStepPreview({ role: 'assistant', parts } as never)).toEqual({
    text: 'Found it.',
    toolNames: ['look'],
  });
});
