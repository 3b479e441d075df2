import { StreamTransformer } from '../../../ai-sdk/index.js';
import type { Bare } from '../../support/fake-call.js';

/** Returns the number of calls that these chunks of a step tell as denied. */
function deniedIn(transformer: StreamTransformer, chunks: Bare[], step = 1): number {
  const about = { agentId: 's1', agentType: 'lab', timestamp: 1, step };
  const parts = chunks.flatMap((chunk) => transformer.transform({ ...chunk, ...about }).events);
  return parts.filter(({ type }) => type === 'tool-output-denied').length;
}

const asked = (toolCallId: string): Bare => ({
  type: 'tool_approval_request',
  toolCallId,
  toolName: 'echo',
  approvalId: toolCallId,
  input: {},
});
const answered = (toolCallId: string, approved: boolean): Bare => ({
  type: 'tool_approval_response',
  toolCallId,
  toolName: 'echo',
  approvalId: toolCallId,
  approved,
});
const ask: Bare = { type: 'step_start', stepId: 'ask' };
const end: Bare = { type: 'step_end' };

it.each([true, false])(
  'a denied call is told once what joined it is decided, approved: %s',
  (approved) => {
    const transformer = new StreamTransformer();
    const joining: Bare = { ...ask, joins: true };
    deniedIn(transformer, [ask, asked('c1'), end, joining, asked('c2'), end]);
    expect(deniedIn(transformer, [answered('c1', false)])).toBe(0);
    expect(deniedIn(transformer, [answered('c2', approved)])).toBe(approved ? 1 : 2);
    // The calls of a later step join none.
    deniedIn(transformer, [{ type: 'step_start' }, asked('c3'), asked('c4'), end], 2);
    expect(deniedIn(transformer, [answered('c3', false)], 2)).toBe(1);
  },
);
