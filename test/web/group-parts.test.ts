import type { UIMessage } from 'ai';
import { groupParts } from '../../web/src/transcript.js';
import { toToolNames } from '../../web/src/tool-names.js';
import { toWords } from '../../protocol/shown-call.js';

const { agentOf } = toToolNames([], 'lab');
type Part = UIMessage['parts'][number];

const call = { type: 'dynamic-tool', toolName: 'lookup', input: {} } as const;
const done = (toolCallId: string): Part => ({
  ...call,
  toolCallId,
  state: 'output-available',
  output: 1,
});
const text: Part = { type: 'text', text: 'so' };
const shape = (parts: readonly Part[]): (string | number)[] =>
  groupParts(parts, agentOf).map((group) =>
    group.kind === 'used' ? group.calls.length : group.part.type,
  );

describe('groupParts', () => {
  it('finished calls that follow each other are one group, across steps', () =>
    expect(
      shape([done('a'), done('b'), { type: 'step-start' }, done('c'), text, done('d')]),
    ).toEqual([3, 'text', 1]));

  it('a group keeps its key while calls join it', () => {
    const before = groupParts([text, done('a')], agentOf);
    const after = groupParts([text, done('a'), done('b')], agentOf);
    expect(after.map(({ key }) => key)).toEqual(before.map(({ key }) => key));
  });

  it.each<[string, Part]>([
    ['runs', { ...call, toolCallId: 'x', state: 'input-available' }],
    ['failed', { ...call, toolCallId: 'x', state: 'output-error', errorText: 'no' }],
    [
      'gave a preliminary result',
      { ...call, toolCallId: 'x', state: 'output-available', output: 1, preliminary: true },
    ],
    [
      'a person approved',
      {
        ...call,
        toolCallId: 'x',
        state: 'output-available',
        output: 1,
        approval: { id: 'p', approved: true },
      },
    ],
    [
      'another agent carried out',
      {
        ...call,
        toolName: 'subagent__writer',
        toolCallId: 'x',
        state: 'output-available',
        output: 1,
      },
    ],
  ])('a call stays in sight that %s', (_name, part) =>
    expect(shape([done('a'), part])).toEqual([1, 'dynamic-tool']),
  );
});

it.each([
  ['lookupOrder', 'Lookup order'],
  ['send_email', 'Send email'],
  ['orderId', 'Order ID'],
  ['HTTP', 'Http'],
  ['_', '_'],
])('toWords %s reads %s', (name, words) => expect(toWords(name)).toBe(words));
