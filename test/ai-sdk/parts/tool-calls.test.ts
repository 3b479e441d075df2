import { StreamTransformer, type StreamProfile } from '../../../ai-sdk/index.js';
import { toMessageEvents } from '../../../ai-sdk/parts/message-events.js';
import type { Bare } from '../../support/fake-call.js';

const [pay, other] = [
  { toolCallId: 'c1', toolName: 'pay', approvalId: 'r::c1' },
  { toolCallId: 'c2', toolName: 'locate', approvalId: 'r::c2' },
];
const asks = (about: typeof pay, more = {}): Bare => {
  return { type: 'tool_approval_request', ...about, input: {}, ...more };
};
const decides = (about: typeof pay, approved: boolean, more = {}): Bare => {
  return { type: 'tool_approval_response', ...about, approved, ...more };
};

/** Types of the parts that a client gets, denials by their calls. */
function told(
  bare: readonly Bare[],
  profile: StreamProfile = 'common',
  is: { answered?: string; withheld?: string } = {},
): string[] {
  const isAnswered = (id: string): boolean => id === is.answered;
  const isWithheld = (id: string): boolean => id === is.withheld;
  const transformer = new StreamTransformer({ profile, isAnswered, isWithheld });
  return bare.flatMap((chunk) => {
    const message = { ...chunk, agentId: 's1', agentType: 'lab', timestamp: 1, step: 1 };
    const { events } = transformer.transform(message);
    return events.map((part) =>
      part.type === 'tool-output-denied' ? `denied ${part.toolCallId}` : part.type,
    );
  });
}

const isDenial = (type: string): boolean => type.startsWith('denied');

describe('calls of a stream', () => {
  it.each<[string, Bare, Bare, StreamProfile[]]>([
    // Only the denial shows a client without `tool-approval-response` that a call is decided.
    ['an approval', asks(other), decides(other, true), ['v7']],
    [
      'a call of a page',
      { type: 'tool_start', ...other, arguments: {}, byClient: true },
      { type: 'tool_end', ...other, result: 1, byClient: true },
      ['common', 'v7'],
    ],
  ])('that were denied may wait for those beside them: %s', (_, open, closed, holding) => {
    const byRule = { ...pay, toolCallId: 'c3' };
    const isAutomatic = true;
    const server = { toolCallId: 'c4', toolName: 'echo', arguments: {}, providerExecuted: true };
    const asked: Bare[] = [
      asks(byRule, { isAutomatic }),
      decides(byRule, false, { isAutomatic }),
      { type: 'tool_start', ...server },
      asks(pay),
      open,
      { type: 'step_end' },
      decides(pay, false),
    ];
    for (const profile of ['common', 'v7'] as const) {
      const both = ['denied c3', 'denied c1'];
      expect(told(asked, profile).filter(isDenial)).toEqual(holding.includes(profile) ? [] : both);
      expect(told([...asked, closed], profile).filter(isDenial)).toEqual(both);
    }
  });

  it.each([true, false])('that were denied wait for what joined them, approved: %s', (approved) => {
    const ask = { type: 'step_start', stepId: 'ask' } as const;
    const joining: Bare = { ...ask, joins: true };
    const end: Bare = { type: 'step_end' };
    const asked = [ask, asks(pay), end, joining, asks(other), end, decides(pay, false)];
    expect(told(asked, 'v7').filter(isDenial)).toEqual([]);
    const denials = told([...asked, decides(other, approved)], 'v7').filter(isDenial);
    expect(denials).toEqual(approved ? ['denied c1'] : ['denied c1', 'denied c2']);
  });

  it('that were answered before come with their requests, if there is an answer', () => {
    const failed: Bare = { type: 'tool_end', ...pay, result: null, error: 'stopped' };
    const opening = ['start', 'start-step', 'tool-input-available'];
    const question = ['tool-approval-request', 'tool-approval-response'];
    const approved = [asks(pay), decides(pay, true)];
    expect(told([asks(pay), failed], 'v7', { answered: 'c1' })).toEqual([
      ...opening,
      'tool-output-error',
    ]);
    expect(told(approved, 'v7', { answered: 'c1' })).toEqual([...opening, ...question]);
    expect(told(approved, 'common', { answered: 'c1' })).toEqual(opening);
  });

  it('that others approved have a request while a stock page must answer another one', () => {
    const asked = [asks(pay), asks(other)];
    const before = told(asked, 'common', { withheld: 'c1' });
    expect(before.filter((type) => type === 'tool-approval-request')).toHaveLength(1);
    const after = told([...asked, decides(pay, true)], 'common', { withheld: 'c1' });
    expect(after.slice(before.length)).toEqual(['tool-approval-request']);
  });

  it('that are carried out after their approval have no request when rows are sent', () => {
    const approval = { id: 'r::c1', approved: true };
    const state = { state: 'approval-responded' as const, approval };
    const part = { ...pay, type: 'dynamic-tool' as const, input: {}, ...state };
    const message = { id: 'msg-1', role: 'assistant' as const, parts: [part] };
    const types = toMessageEvents(message, 'common').map(({ type }) => type);
    expect(types).toEqual(['tool-input-available']);
  });
});
