import { createElement } from 'react';
import type { PendingQuestion } from '../../protocol/replies.js';
import { CurrentConversation } from '../../web/src/current-conversation.js';
import { ToolCard } from '../../web/src/tool-card.js';
import {
  isPageCall,
  readable,
  toolCardState,
  waitsForColleague,
  type ToolPart,
} from '../../web/src/tool-state.js';
import { openPage } from '../support/render-page.js';

const call = { type: 'dynamic-tool', toolName: 'charge', toolCallId: 'c1', input: {} } as const;
const asked = { id: 'a1' };
const names = { toolCallId: 'c1', approvalId: 's1:1-a::c1', inputHash: 'h' };

it.each<[string, ToolPart]>([
  ['running', { ...call, state: 'input-streaming' }],
  ['running', { ...call, state: 'input-available' }],
  ['waiting', { ...call, state: 'approval-requested', approval: asked }],
  ['running', { ...call, state: 'approval-responded', approval: { ...asked, approved: true } }],
  ['denied', { ...call, state: 'approval-responded', approval: { ...asked, approved: false } }],
  ['running', { ...call, state: 'output-available', output: 1, preliminary: true }],
  ['done', { ...call, state: 'output-available', output: 1 }],
  ['failed', { ...call, state: 'output-error', errorText: 'no' }],
  ['denied', { ...call, state: 'output-denied', approval: { ...asked, approved: false } }],
])('toolCardState: the state of a tool card is %s', (state, part) =>
  expect(toolCardState(part)).toBe(state),
);

it('waitsForColleague: a call waits for a colleague if the server has it so', () => {
  const part: ToolPart = { ...call, state: 'input-available' };
  const question = { ...names, toolName: 'charge', kind: 'approval', input: {} } as const;
  expect(waitsForColleague(part, [{ ...question, mayDecide: false }])).toBe(true);
  expect(waitsForColleague(part, [question])).toBe(false);
  expect(waitsForColleague(part, [{ ...question, toolCallId: 'c2', mayDecide: false }])).toBe(
    false,
  );
  const done: ToolPart = { ...call, state: 'output-available', output: 1 };
  expect(waitsForColleague(done, [{ ...question, mayDecide: false }])).toBe(false);
});

it.each<[string, Partial<PendingQuestion>, boolean]>([
  ['a client tool', { kind: 'client' }, true],
  ['a client tool of a colleague', { kind: 'client', mayDecide: false }, false],
  ['an approval', { kind: 'approval' }, false],
])('isPageCall: the page answers a call of %s', (_, of, isIts) => {
  const question = { ...names, toolName: 'charge', kind: 'client', input: {}, ...of } as const;
  expect(isPageCall({ ...call, state: 'input-available' }, [question])).toBe(isIts);
});

it('readable indents JSON and leaves text alone', () => {
  expect(readable({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(readable('plain')).toBe('plain');
  expect(readable(undefined)).toBe('');
});

it('the answer to one question leaves the next one open, which is of another kind', () => {
  const page = openPage();
  const card = createElement(ToolCard, {
    part: { ...call, state: 'input-available' },
    newest: true,
  });
  const ask = (mayDecide: boolean): void => {
    const question = { ...names, toolName: 'charge', kind: 'client', input: {}, mayDecide };
    const state = { agent: 'lab', pending: [question], changed: {}, decided: {} };
    const store = { get: () => state, subscribe: () => () => undefined };
    const value = { cards: [], controls: {}, page: store, giveResult: () => undefined } as never;
    page.show(createElement(CurrentConversation.Provider, { value }, card));
  };
  ask(true);
  page.click('refuse-result');
  expect(page.isEnabled('refuse-result')).toBe(false);
  ask(false);
  expect(page.isEnabled('withdraw')).toBe(true);
  page.close();
});
