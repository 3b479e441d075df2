import { mayDecide, requireAllowed, toViewer } from '../../../ai-sdk/reply/authority.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
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
