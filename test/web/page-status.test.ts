import type { DynamicToolUIPart, UIMessage } from 'ai';
import type { PendingQuestion } from '../../protocol/replies.js';
import { describeStatus, pageStatus } from '../../web/src/page-status.js';
import { toToolNames } from '../../web/src/tool-names.js';

const calm = { reconnecting: false, stopping: false };
const call = { type: 'dynamic-tool', input: {} } as const;

const toMessage = (...parts: UIMessage['parts']): UIMessage => ({
  id: 'msg-1',
  role: 'assistant',
  parts,
});
const calls = (toolName: string, state = 'input-available'): DynamicToolUIPart =>
  ({ ...call, toolName, toolCallId: toolName, state }) as DynamicToolUIPart;

const asking = toMessage({
  ...call,
  toolName: 'charge',
  toolCallId: 'c1',
  state: 'approval-requested',
  approval: { id: 'a1' },
});
const running = toMessage(calls('lookupOrder'), calls('subagent__research'));
const writing = toMessage(calls('lookupOrder'), { type: 'text', text: 'So', state: 'streaming' });

const SHOWN = { approvalId: 's1:1-a::c', inputHash: 'h' };
const withheld: PendingQuestion[] = [
  {
    toolCallId: 'refund',
    toolName: 'refund',
    kind: 'approval',
    input: {},
    ...SHOWN,
    mayDecide: false,
  },
];
const onPage: PendingQuestion[] = [
  { toolCallId: 'locate', toolName: 'locate', kind: 'client', input: {}, ...SHOWN },
];

describe('pageStatus', () => {
  it.each([
    ['thinking', 'submitted', calm, undefined],
    ['streaming', 'streaming', calm, undefined],
    ['stopping', 'streaming', { ...calm, stopping: true }, undefined],
    ['ready', 'ready', calm, undefined],
    ['waiting', 'ready', calm, asking],
    ['reconnecting', 'error', { ...calm, reconnecting: true }, asking],
    ['reconnecting', 'streaming', { ...calm, reconnecting: true }, undefined],
    ['ready', 'error', calm, undefined],
  ] as const)('the status of the page is %s', (expected, chat, page, newest) =>
    expect(pageStatus(chat, page, newest)).toBe(expected),
  );

  it('what only a colleague can answer is no rest, and no question to the one who reads it', () => {
    const pending = withheld;
    const asked = toMessage(calls('refund'));
    expect(pageStatus('ready', { ...calm, pending }, asked)).toBe('colleague');
    const both = toMessage(calls('refund'), ...asking.parts);
    expect(pageStatus('ready', { ...calm, pending }, both)).toBe('waiting');
    expect(pageStatus('ready', { ...calm, pending: [] }, asked)).toBe('ready');
  });

  it('an answer that is about to be sent is no rest, unless it was not taken', () => {
    const pending: PendingQuestion[] = [
      { toolCallId: 'charge', toolName: 'charge', kind: 'approval', input: {}, ...SHOWN },
      ...onPage,
    ];
    for (const answered of [
      calls('charge', 'approval-responded'),
      calls('locate', 'output-error'),
    ]) {
      const newest = toMessage(answered);
      expect(pageStatus('ready', { ...calm, pending }, newest)).toBe('thinking');
      expect(pageStatus('error', { ...calm, pending }, newest)).toBe('ready');
      expect(pageStatus('ready', { ...calm, pending: [] }, newest)).toBe('ready');
      const another = toMessage(answered, ...asking.parts);
      expect(pageStatus('ready', { ...calm, pending }, another)).toBe('waiting');
    }
  });

  it('a call that is carried out is no writing, until the agent writes again', () => {
    expect(pageStatus('streaming', calm, running)).toBe('working');
    expect(pageStatus('ready', { ...calm, following: true }, running)).toBe('working');
    expect(pageStatus('streaming', calm, writing)).toBe('streaming');
    expect(pageStatus('streaming', calm, toMessage(calls('a', 'input-streaming')))).toBe(
      'streaming',
    );
    const locate = toMessage(calls('locate'));
    expect(pageStatus('streaming', { ...calm, pending: onPage }, locate)).toBe('streaming');
  });

  it.each([
    ['provider', { waitingFor: 'provider' }],
    ['paused', { waitingFor: 'agent', runStatus: 'starting' }],
    ['later', { waitingFor: 'start', runStatus: 'starting' }],
    ['starting', { runStatus: 'starting' }],
  ] as const)('a run that cannot write yet says why: %s', (expected, page) => {
    expect(pageStatus('streaming', { ...calm, ...page }, toMessage())).toBe(expected);
    expect(pageStatus('ready', { ...calm, ...page, following: true }, undefined)).toBe(expected);
    // The status is plain again once the run has ended.
    expect(pageStatus('ready', { ...calm, ...page }, undefined)).toBe('ready');
  });
});

describe('describeStatus', () => {
  const names = toToolNames(
    [
      {
        name: 'support',
        title: 'Support',
        openers: [],
        listed: true,
        tools: [
          { name: 'lookupOrder', title: 'Look up an order' },
          { name: 'subagent__research', agent: 'Researcher' },
        ],
      },
    ],
    'support',
  );
  const page = { pending: [], startAt: undefined };

  it('what runs is named by its title, and a long list is counted', () => {
    expect(describeStatus('working', page, running, names)).toBe('Look up an order, Researcher…');
    const many = toMessage(calls('a'), calls('b'), calls('c'), calls('d'));
    expect(describeStatus('working', page, many, names)).toBe('A, B and 2 more…');
    expect(describeStatus('streaming', page, running, names)).toBeUndefined();
  });
});
