import { classify, type Classified } from '../../../ai-sdk/reply/classify.js';
import type { Row } from '../../../protocol/rows.js';
import { user } from './ask.js';
import {
  RUN,
  REST,
  PAUSED,
  ACTIVE,
  other,
  edited,
  next,
  unknown,
  record,
  rows,
  call,
  session,
  stale,
  approved,
  cut,
  hello,
  answers,
  type Given,
  facts,
  refused,
  list,
} from './facts.js';

const says = (...messages: Parameters<typeof list>): unknown => ({
  kind: 'say',
  agent: 'lab',
  messages: list(...messages),
});
const earlier = { ...next?.row, id: 'u0' } as Row;
const redo = (of: Given['session']): Given => ({
  trigger: 'regenerate-message',
  messageId: 'msg-1',
  session: of,
});
const rejects = (reason: string, of: object = { toolCallId: 'c1', runId: RUN }): unknown => ({
  kind: 'answer',
  answers: { intents: [], rejected: [{ ...of, reason }], hasTrailingUserMessage: false },
});

const cases: [title: string, given: Given, outcome: unknown][] = [
  [
    'a GET of the owner attaches',
    { isRead: true, session: session() },
    { kind: 'attach', record: record() },
  ],
  ['a GET of an unknown session has nothing', { isRead: true }, { kind: 'nothing' }],
  [
    'a GET of a stranger has nothing',
    { isRead: true, session: session({}, { isOwn: false }) },
    { kind: 'nothing' },
  ],
  [
    'a POST of a stranger is refused as for an unknown session',
    { messages: list(next), session: session({}, { isOwn: false }) },
    refused('not_found'),
  ],
  [
    'and whichever agent the stranger names',
    { messages: list(next), agent: 'none', session: session({}, { isOwn: false }) },
    refused('not_found'),
  ],
  [
    'a first message to a named agent begins a turn with it',
    { messages: list(next), agent: 'support' },
    { kind: 'say', agent: 'support', messages: list(next) },
  ],
  [
    'a first message without an agent goes to the default one',
    { messages: list(next), defaultAgent: 'lab' },
    says(next),
  ],
  ['a first message needs an agent', { messages: list(next) }, refused('agent_required')],
  [
    'an unknown agent is refused',
    { messages: list(next), agent: 'none' },
    refused('agent_not_found'),
  ],
  [
    'an agent that is a sub-agent only is refused',
    { messages: list(next), agent: 'lab', agents: { has: () => true, isPublic: () => false } },
    refused('agent_not_found'),
  ],
  [
    'another agent than the session’s is refused',
    { messages: list(next), agent: 'support', session: session() },
    refused('agent_mismatch'),
  ],
  [
    'a session whose agent was removed is refused',
    { messages: list(next), session: session({ agent: 'removed' }) },
    refused('agent_not_found'),
  ],
  [
    'a new message goes to the session’s agent, whatever the default is',
    { messages: list(next), defaultAgent: 'support', session: session() },
    says(next),
  ],
  [
    'regenerating a named message does its turn again',
    redo(session()),
    { kind: 'regenerate', messageId: 'msg-1' },
  ],
  [
    'regenerating without a name does the turn of the posted message again',
    { trigger: 'regenerate-message', messages: list(hello), session: session() },
    { kind: 'regenerate', messageId: 'u1' },
  ],
  [
    'regenerating without a name or a message does the newest turn again',
    { trigger: 'regenerate-message', session: session() },
    { kind: 'regenerate', messageId: undefined },
  ],
  ...['msg-1', undefined].map((messageId): (typeof cases)[number] => [
    `regenerating what the page shows in another version is an edit: ${String(messageId)}`,
    { ...redo(session({}, { rows: [earlier, ...rows] })), messageId, messages: list(other) },
    { kind: 'edit', messageId: 'u1', messages: list(other) },
  ]),
  [
    'regenerating an older version than a stored edit does the turn of the edit again',
    { ...redo(session({}, { rows: edited })), messages: list(other) },
    { kind: 'regenerate', messageId: 'msg-1' },
  ],
  [
    'regenerating the reply to another message is none',
    {
      ...redo(session({}, { rows: [earlier, ...rows.toReversed()] })),
      messages: list(other),
    },
    { kind: 'regenerate', messageId: 'msg-1' },
  ],
  [
    'regenerating with a message that the session never accepted is a new message',
    { trigger: 'regenerate-message', messages: list(unknown), session: session() },
    says(unknown),
  ],
  [
    'regenerating in an unknown session is a new message',
    { trigger: 'regenerate-message', messages: list(hello), agent: 'lab' },
    says(hello),
  ],
  [
    'regenerating a turn that is being done again shows it',
    redo(session({ ...ACTIVE, runMode: 'retry' })),
    { kind: 'replay' },
  ],
  [
    'regenerating an older turn while a run is active is refused',
    redo(session({ ...ACTIVE, turnStartRow: 2 })),
    refused('agent_already_running'),
  ],
  [
    'regenerating the turn that is being written stops it',
    redo(session(ACTIVE)),
    { kind: 'regenerate', messageId: 'msg-1', stops: record(ACTIVE) },
  ],
  [
    'regenerating it while messages wait is refused before it is stopped',
    redo(session({ ...ACTIVE, queued: 1 })),
    refused('agent_already_running'),
  ],
  [
    'regenerating a turn that waits for people does it again',
    redo(session(PAUSED)),
    { kind: 'regenerate', messageId: 'msg-1' },
  ],
  [
    'a stored message with other content is edited',
    { messageId: 'u1', messages: list(other), session: session() },
    { kind: 'edit', messageId: 'u1', messages: list(other) },
  ],
  [
    'an edit of the message that is being answered stops the reply',
    { messageId: 'u1', messages: list(other), session: session(ACTIVE) },
    { kind: 'edit', messageId: 'u1', messages: list(other), stops: record(ACTIVE) },
  ],
  [
    'an edit of a message whose turn waits for people stops nothing first',
    { messageId: 'u1', messages: list(other), session: session(PAUSED) },
    { kind: 'edit', messageId: 'u1', messages: list(other) },
  ],
  [
    'an edit of an older message stops no reply',
    { messageId: 'u1', messages: list(other), session: session({ ...ACTIVE, turnStartRow: 2 }) },
    { kind: 'edit', messageId: 'u1', messages: list(other) },
  ],
  [
    'an edit brings the messages with it that the session does not know',
    { messageId: 'u1', messages: list(unknown, other), session: session() },
    { kind: 'edit', messageId: 'u1', messages: list(unknown, other) },
  ],
  [
    'an edit of a message that the session lacks is a new message',
    { messageId: 'u1', messages: list(hello), session: session({}, { rows: [] }) },
    says(hello),
  ],
  [
    'an edit in an unknown session is a new message',
    { messageId: 'u1', messages: list(hello), agent: 'lab' },
    says(hello),
  ],
  [
    'a stored message with the same content is no edit',
    { messageId: 'u1', messages: list(hello), session: session() },
    says(hello),
  ],
  [
    'an older message that is sent again unchanged is answered again',
    { messageId: 'u1', messages: list(hello), session: session({ turnStartRow: 2 }) },
    { kind: 'regenerate', messageId: 'u1' },
  ],
  [
    'one that was edited may be the edit, sent again',
    {
      messageId: 'u1',
      messages: list(hello),
      session: session({ turnStartRow: 2 }, { rows: edited }),
    },
    says(hello),
  ],
  [
    'an answer to a call that waits is submitted',
    { posted: [approved], session: session(PAUSED, { openCalls: [call('c1')] }) },
    { kind: 'answer', answers },
  ],
  [
    'an answer in an unknown session is rejected beside the stream',
    { posted: [approved] },
    rejects('stale-run'),
  ],
  [
    'an answer beside a new message is submitted before it',
    {
      posted: [approved, user('u2')],
      messages: list(next),
      session: session(PAUSED, { openCalls: [call('c1')] }),
    },
    {
      kind: 'say',
      agent: 'lab',
      messages: list(next),
      answers: { ...answers, hasTrailingUserMessage: true },
    },
  ],
  [
    'a rejected answer beside a new message is told',
    { posted: [approved, user('u2')], messages: list(next), session: session(PAUSED) },
    {
      kind: 'say',
      agent: 'lab',
      messages: list(next),
      answers: {
        intents: [],
        rejected: [{ toolCallId: 'c1', reason: 'not-pending', runId: RUN }],
        hasTrailingUserMessage: true,
      },
    },
  ],
  [
    'a new message answers nothing in a session at rest',
    {
      posted: [approved, user('u2')],
      messages: list(next),
      session: session(REST, { openCalls: [call('c1')] }),
    },
    says(next),
  ],
  [
    'the beginning of a reply, posted by a page that lost the rest, is out of step',
    { posted: [cut], session: session() },
    refused('client_out_of_step'),
  ],
  [
    'a copy of the active reply is out of step',
    { posted: [{ ...cut, parts: [] }], session: session(ACTIVE) },
    refused('client_out_of_step'),
  ],
  [
    'a POST without a message or an answer is refused',
    { session: session() },
    refused('nothing_to_do'),
  ],
  [
    'results that nobody waits for any more are rejected beside the stream',
    { posted: [user('u1'), stale], session: session(REST) },
    rejects('not-pending', { toolCallId: 'c0' }),
  ],
  [
    'a result of the newest turn that the server has given is nothing to do',
    {
      posted: [user('u1'), stale],
      session: { ...session(REST), turnRows: [{ role: 'tool', toolCallId: 'c0' } as Row] },
    },
    refused('nothing_to_do'),
  ],
  [
    'nor is one beside a call that waits',
    {
      posted: [user('u1'), stale],
      session: session(PAUSED, {
        openCalls: [call('c0', { spec: { ...call('c0').spec, kind: 'server' }, state: 'settled' })],
      }),
    },
    refused('nothing_to_do'),
  ],
  [
    'a reply whose results the model has read already is nothing to do',
    {
      posted: [{ ...stale, parts: [...stale.parts, { type: 'step-start' }] }],
      session: session(REST),
    },
    refused('nothing_to_do'),
  ],
  [
    'results for a conversation that does not exist are refused',
    { posted: [stale], defaultAgent: 'lab' },
    refused('nothing_to_do'),
  ],
  [
    'a POST without a message in an unknown session is refused',
    { defaultAgent: 'lab' },
    refused('nothing_to_do'),
  ],
];

it.each(cases)('%s', (_, given, outcome) => {
  const ask: Classified = classify(facts(given));
  // Only the named asks stop a run.
  expect({ stops: undefined, ...ask }).toMatchObject({ stops: undefined, ...(outcome as object) });
  expect(ask.kind).toBe((outcome as Classified).kind);
});

it('every outcome stands in the table', () => {
  const kinds = new Set(cases.map(([, , outcome]) => (outcome as Classified).kind));
  const all: Record<Classified['kind'], true> = {
    nothing: true,
    refuse: true,
    attach: true,
    replay: true,
    regenerate: true,
    edit: true,
    answer: true,
    say: true,
  };
  expect([...kinds].sort()).toEqual(Object.keys(all).sort());
});
