import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { ApproverRule } from '../../agents/approver-rule.js';
import { AgentRegistry, defineAgent, defineTool } from '../../agents/index.js';
import { createAnswerApi, type AnswerOptions } from '../../executor/answers.js';
import type { UncheckedAnswer } from '../../protocol/answers.js';
import { HelixError } from '../../protocol/errors.js';
import type { Approvers } from '../../protocol/roles.js';
import { createMemoryStores } from '../../stores/memory/index.js';
import { drive, newCall, newSessionId } from '../support/session-driver.js';

const rule: ApproverRule = (_responder, { input }) =>
  (input as { amount: number }).amount <= 100 || { allowed: false, reason: 'above your limit' };
const pay = defineTool({
  name: 'approval-tool',
  description: 'Pays.',
  inputSchema: z.object({ amount: z.number() }),
  requireApproval: true,
  approvers: rule,
  execute: () => 'paid',
});
const agents = new AgentRegistry([
  defineAgent({
    name: 'tester',
    systemPrompt: '',
    tools: [pay],
    llmConfig: { model: 'scripted' },
  }),
]);

/** A conversation of ann in which a call waits, or will. */
async function start(approvers: Approvers | undefined) {
  const { store, ...rest } = createMemoryStores();
  const session = drive({ store, ...rest }, newSessionId());
  const begun = await session.begin({ owner: 'ann', agent: 'tester' });
  if (begun.kind !== 'begun') throw new Error(begun.kind);
  const { runId } = begun.run;
  const ask = () =>
    session.ask(runId, 1, [newCall('c1', 'approval', { approvers, input: { amount: 5 } })]);
  const answers = createAnswerApi({
    store,
    agents,
    workflows: { answer: () => Promise.resolve() },
    logger: { warn: () => undefined },
  });
  const answer = async (given: object, options?: AnswerOptions): Promise<unknown> => {
    const to = { sessionId: session.id, toolCallId: 'c1', kind: 'approval-response', ...given };
    try {
      return (await answers.submitToolResult(to as UncheckedAnswer, options)).kind;
    } catch (error) {
      const { code, detail } = error as { code?: string; detail?: unknown };
      return detail === undefined ? code : [code, detail];
    }
  };
  const state = async () => (await store.calls.read(session.id, 'c1'))?.state;
  return { store, session, ask, answer, answers, state };
}

it('a program names the person who answers, with the roles that it has verified', async () => {
  const { ask, answer, state } = await start({ roles: ['approver'], separate: true });
  await ask();
  const needed = ['not_allowed', { roles: ['approver'] }];
  expect(await answer({ approved: true })).toEqual(needed);
  expect(await answer({ approved: true, by: 'bob' })).toEqual(needed);
  // No role would do for the one who has asked.
  expect(await answer({ approved: true, by: 'ann' })).toBe('not_allowed');
  const ann = { userId: 'ann', roles: ['approver' as const] };
  expect(await answer({ approved: true, by: 'bob' }, { responder: ann })).toBe('not_allowed');
  expect(await state()).toBe('waiting');
  const bob = { ...ann, userId: 'bob' };
  expect(await answer({ approved: true, by: 'bob' }, { responder: bob })).toBe('stored');
});

/** A colleague begins ann's run again, and it asks. */
async function askAgain({ store, session }: Awaited<ReturnType<typeof start>>): Promise<void> {
  await session.stop();
  const resumed = await store.runs.resume({
    ...{ sessionId: session.id, nonce: 'again', mode: 'continue', by: 'bob', now: Date.now() },
  });
  if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
  const approvers = { separate: true };
  const calls = ['c1', 'c2'].map((id) => newCall(id, 'approval', { approvers }));
  await session.ask(resumed.run.runId, 1, calls);
}

it('a colleague who begins the run again has asked, and may only withdraw it', async () => {
  const started = await start(undefined);
  const { answer } = started;
  await askAgain(started);
  const as = (userId: string) => ({ responder: { userId, roles: ['operator' as const] } });
  for (const asker of ['ann', 'bob']) {
    expect(await answer({ approved: true }, as(asker))).toBe('not_allowed');
  }
  expect(await answer({ approved: false, toolCallId: 'c2' }, as('bob'))).toBe('stored');
  expect(await answer({ approved: true }, as('eve'))).toBe('stored');
});

it('a record that was read before the run began again does not say who has asked', async () => {
  const started = await start(undefined);
  const { store, session, answer } = started;
  const record = await store.sessions.read(session.id);
  if (record === undefined) throw new Error('no session');
  await askAgain(started);
  const bob = { userId: 'bob', roles: ['operator' as const] };
  expect(await answer({ approved: true }, { responder: bob, known: { record } })).toBe(
    'not_allowed',
  );
});

it('the owner may withdraw what was asked, and a stranger to it may not', async () => {
  const cancel = { kind: 'client-tool-result', error: 'never mind' };
  for (const withdrawal of [{ approved: false }, cancel]) {
    const { ask, answer } = await start({ separate: true, roles: ['approver'] });
    await ask();
    const refused = ['not_allowed', { roles: ['approver'] }];
    expect(await answer({ ...withdrawal, by: 'bob' })).toEqual(refused);
    expect(await answer({ ...withdrawal, by: 'ann' })).toBe('stored');
  }
});

it("a tool's function is asked about the input that would be executed", async () => {
  const { ask, answer, answers, store, session } = await start({ rule: true });
  await ask();
  const found = await store.sessions.withCalls(session.id);
  if (found?.openCalls[0] === undefined) throw new Error('nothing waits');
  const { spec } = found.openCalls[0];
  expect(await answers.mayApprove({ userId: 'bob' }, found.record, spec)).toBe(true);
  const edited = { approved: true, by: 'bob', input: { amount: 500 } };
  expect(await answer(edited)).toEqual(['not_allowed', { reason: 'above your limit' }]);
  expect(await answer({ ...edited, input: { amount: 100 } })).toBe('stored');
});

it.each([
  [{ separate: true }, 'not_allowed'],
  // Neither the host's own rule nor the tool's schema has seen it.
  [undefined, 'not_pending'],
])(
  'an answer that overtakes the question is not taken without a check: %j',
  async (of, refusal) => {
    const { store, ask, answer, state } = await start(of);
    const { read } = store.calls;
    let isAsked = false;
    store.calls.read = async (...args) => {
      const before = await read(...args);
      // The step is committed between the read and the answer.
      if (!isAsked) await ask();
      isAsked = true;
      return before;
    };
    expect(await answer({ approved: true, by: 'ann', input: { amount: 'much' } })).toBe(refusal);
    expect(await state()).toBe('waiting');
  },
);

it("an answer that comes after the timeout passes the host's rule as well", async () => {
  const { store, session, answer } = await start(undefined);
  const { runId = '' } = (await store.sessions.read(session.id)) ?? {};
  await session.ask(runId, 1, [newCall('c2', 'client', { deadlineMs: 1 })]);
  while ((await session.expire(runId, 'c2')).kind !== 'stored') await setImmediate();
  const late = { kind: 'client-tool-result', toolCallId: 'c2', result: 'Rome' };
  const refuse = () => Promise.reject(new HelixError('not_allowed', 'no'));
  expect(await answer(late, { permit: refuse })).toBe('not_allowed');
  expect(await answer(late)).toBe('stored');
});
