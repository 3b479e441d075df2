import { readOwnView } from '../../../ai-sdk/reply/access.js';
import {
  decides,
  explainWithheld,
  judged,
  mayDecide,
  requireAllowed,
  toViewer,
} from '../../../ai-sdk/reply/authority.js';

beforeEach(() => {
  jest.useFakeTimers();
});
const hangs = { authorize: () => new Promise<boolean>(() => undefined) };
const caller = { userId: 'bob' };

it("an answer does not wait longer for the host's rule", async () => {
  const refused = expect(requireAllowed(hangs, caller, 'answer')).rejects.toMatchObject({
    code: 'unavailable',
  });
  await jest.advanceTimersByTimeAsync(1_500);
  await refused;
});

it('nor does a conversation that is shown', async () => {
  const call = { toolCallId: 'c1', toolName: 'pay', kind: 'approval' as const, input: {} };
  const conversation = { sessionId: 's', owner: 'ann', agent: 'payer' };
  const asked = mayDecide(hangs, caller, conversation, { ...call, step: 1, runId: 's:1-a' });
  await jest.advanceTimersByTimeAsync(1_500);
  expect(await asked).toBe(false);
});

it('owners who may decide otherwise share no frames of a turn', () => {
  const keys = [
    { roles: [] },
    { roles: ['approver' as const] },
    { roles: ['operator' as const] },
    { isEveryone: true },
  ].map((of) => toViewer({}, 's', { userId: 'ann', ...of }).key);
  expect(new Set(keys).size).toBe(keys.length);
});

it.each([
  [{ roles: ['approver' as const] }, true],
  [{ roles: ['approver' as const], rule: true as const }, false],
])('without the agents, approvers %j let an approver decide: %s', async (approvers, expected) => {
  const call = {
    toolCallId: 'c1',
    toolName: 'pay',
    kind: 'approval' as const,
    input: {},
    approvers,
  };
  const conversation = { sessionId: 's', owner: 'ann', agent: 'payer' };
  const bob = { userId: 'bob', roles: ['approver' as const] };
  expect(await decides({}, bob, conversation, { ...call, step: 1, runId: 's:1-a' })).toBe(expected);
});

it.each([
  ['ann', true],
  ['eve', false],
])('a conversation that is of %s when its rows are read is read: %s', async (owner, isRead) => {
  const view = { record: { sessionId: 's', owner } };
  const sessions = {
    read: () => Promise.resolve({ sessionId: 's', owner: 'ann' }),
    view: () => Promise.resolve(view),
  };
  const read = await readOwnView({ sessions } as never, 's', { userId: 'ann' });
  expect(read).toBe(isRead ? view : undefined);
});

it.each(['approval', 'client'] as const)(
  'of calls of kind %s only approvals are withdrawn',
  async (kind) => {
    const approvers = { roles: ['approver' as const] };
    const call = { toolCallId: 'c1', toolName: 'pay', kind, input: {}, approvers };
    const conversation = { sessionId: 's', owner: 'ann', agent: 'payer' };
    const of = { ...call, step: 1, runId: 's:1-a' };
    const { mayWithdraw } = await explainWithheld({}, { userId: 'ann' }, conversation, of);
    expect(mayWithdraw).toBe(kind === 'approval' ? true : undefined);
  },
);

it("a host's rule judges questions that are open, and no others", async () => {
  const authorize = jest.fn(() => false);
  const spec = { toolCallId: 'c1', toolName: 'pay', kind: 'approval', input: {}, runId: 's:1-a' };
  const record = { sessionId: 's', owner: 'ann', agent: 'payer' };
  const openCalls = [{ spec }, { spec, decision: {} }, { spec, row: {} }];
  const marked: object = await judged({ authorize }, caller, { record, openCalls } as never);
  expect(marked).toEqual({
    record,
    openCalls: [
      { spec, mayDecide: false },
      { spec, decision: {} },
      { spec, row: {} },
    ],
  });
  expect(toViewer({ authorize }, 's', caller).judges({} as never)).toBe(true);
  expect(toViewer({}, 's', caller).judges({} as never)).toBe(false);
});
