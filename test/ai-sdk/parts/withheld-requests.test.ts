import { StreamTransformer } from '../../../ai-sdk/parts/stream-transformer.js';
import type { StreamProfile } from '../../../ai-sdk/parts/ui-stream-part.js';
import type { StreamChunk } from '../../../protocol/chunk.js';

const base = { agentId: 's', agentType: 'a', timestamp: 1, step: 1 };
const call = { toolCallId: 'c', toolName: 'pay', approvalId: 's:1-a::c' };
const ASKED: StreamChunk = { type: 'tool_approval_request', ...base, ...call, input: {} };
const answered = (approved: boolean): StreamChunk => ({
  type: 'tool_approval_response',
  ...base,
  ...call,
  approved,
});

/** Types of the parts about the call, for a viewer who may not decide it. */
function played(
  profile: StreamProfile,
  chunks: readonly StreamChunk[],
  options: { isTail?: boolean } = {},
): string[] {
  const transformer = new StreamTransformer({ profile, isWithheld: () => true, ...options });
  const events = chunks.flatMap((chunk) => transformer.transform(chunk).events);
  return events.map(({ type }) => type).filter((type) => type.startsWith('tool-'));
}

const AVAILABLE = 'tool-input-available';
const REQUEST = 'tool-approval-request';
const RESPONSE = 'tool-approval-response';
const DENIED = 'tool-output-denied';

describe('a request for an approval that the viewer may not give', () => {
  it.each<[StreamProfile, string[], string[]]>([
    ['common', [], [REQUEST, DENIED]],
    ['v7', [REQUEST, RESPONSE], [REQUEST, RESPONSE, DENIED]],
  ])('%s: it is shown with its answer, as far as the client needs it', (profile, yes, no) => {
    expect(played(profile, [ASKED])).toEqual([AVAILABLE]);
    expect(played(profile, [ASKED, answered(true)])).toEqual([AVAILABLE, ...yes]);
    expect(played(profile, [ASKED, answered(false)])).toEqual([AVAILABLE, ...no]);
  });

  it('a tail brings the request with the answer, since the client has only the call', () => {
    const isTail = { isTail: true };
    expect(played('v7', [answered(true)], isTail)).toEqual([REQUEST, RESPONSE]);
    expect(played('common', [answered(false)], isTail)).toEqual([REQUEST, DENIED]);
    expect(played('common', [answered(true)], isTail)).toEqual([]);
  });

  it('a mark of the server counts as well', () => {
    const transformer = new StreamTransformer();
    const { events } = transformer.transform({ ...ASKED, mayDecide: false });
    expect(events.map(({ type }) => type)).not.toContain(REQUEST);
    expect(new StreamTransformer().transform(ASKED).events.map(({ type }) => type)).toContain(
      REQUEST,
    );
  });
});
