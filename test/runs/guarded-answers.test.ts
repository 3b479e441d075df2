import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { ApproverRule } from '../../agents/tool-config.js';
import { AgentRegistry, defineAgent } from '../../agents/index.js';
import { createApproverDemands } from '../../runs/record/approver-demands.js';
import { createAnswers, type AnswerOptions } from '../../runs/record/answers.js';
import type { UncheckedAnswer } from '../../protocol/answers.js';
import { HelixError } from '../../protocol/errors.js';
import { formatApprovalId } from '../../protocol/ids.js';
import { hashInput } from '../../protocol/shown-call.js';
import type { Approvers } from '../../protocol/actor.js';
import { toPendingCalls, toPendingQuestions } from '../../store/record/session-summaries.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { drive, newCall, newSessionId } from '../support/session-driver.js';
import { fakeAgent } from '../support/fake-agent.js';
import { fakeTool } from '../support/fake-tool.js';

const rule: ApproverRule = (_responder, { input }) =>
  (input as { amount: number }).amount <= 100 || { allowed: false, reason: 'above your limit' };
const pay = fakeTool('approval-tool', () => 'paid', {
  inputSchema: z.object({ amount: z.number() }),
  requireApproval: true,
  approvers: rule,
});
const agents = new AgentRegistry([fakeAgent('tester', 'scripted', { tools: [pay] })]);

/** Starts Ann's conversation, in which a call waits or will wait. */
async function start(approvers: Approvers | undefined) {
  const { store, ...rest } = createMemoryStores();
  const session = drive({ store, ...rest }, newSessionId());
  const begun = await session.newRun({ owner: 'ann', agent: 'tester' });
  const { runId } = begun;
  const ask = () =>
    session.ask(runId, 1, [
      newCall('c1', 'approval', { approvers, input: { amount: 5 }, deadlineMs: 60_000 }),
    ]);
  const logger = { warn: () => undefined };
  const answers = createAnswers({ store, agents, host: 'api', logger });
  /** Returns the approval id and input hash of a call as it waits now. */
  const namesOf = async (toolCallId = 'c1') => {
    const { openCalls = [] } = (await store.sessions.withCalls(session.id)) ?? {};
    const { approvalId, inputHash } = toPendingCalls(openCalls)[toolCallId] ?? {};
    return { approvalId, inputHash };
  };
  const outcome = async (of: Promise<{ kind: string }>): Promise<unknown> => {
    try {
      return (await of).kind;
    } catch (error) {
      const { code, detail } = error as { code?: string; detail?: unknown };
      return detail === undefined ? code : [code, detail];
    }
  };
  /** Answers the waiting call, unless `given` names another. */
  const answer = async (
    given: { toolCallId?: string; [field: string]: unknown },
    options?: AnswerOptions,
  ): Promise<unknown> => {
    const to = { sessionId: session.id, toolCallId: 'c1', kind: 'approval-response' };
    const named = { ...to, ...(await namesOf(given.toolCallId)), ...given };
    const submitted = answers.submit(named as UncheckedAnswer, options);
    return outcome(submitted.then(({ result }) => result));
  };
  const extend = (given: object, options?: Pick<AnswerOptions, 'responder'>): Promise<unknown> => {
    const to = { sessionId: session.id, toolCallId: 'c1', byMs: 60_000, ...given };
    return outcome(answers.extendDeadline(to, options));
  };
  const state = async () => (await store.calls.read(session.id, 'c1'))?.state;
  return { store, session, ask, answer, answers, extend, namesOf, state };
}

it('a program names the person who answers, with the roles that it has verified', async () => {
  const { ask, answer, state } = await start({ roles: ['approver'], separate: true });
  await ask();
  const needed = ['not_allowed', { roles: ['approver'] }];
  expect(await answer({ approved: true })).toEqual(needed);
  expect(await answer({ approved: true, by: 'bob' })).toEqual(needed);
  // No role lets the requester approve.
  expect(await answer({ approved: true, by: 'ann' })).toBe('not_allowed');
  const ann = { userId: 'ann', roles: ['approver' as const] };
  expect(await answer({ approved: true, by: 'bob' }, { responder: ann })).toBe('not_allowed');
  expect(await state()).toBe('waiting');
  const bob = { ...ann, userId: 'bob' };
  expect(await answer({ approved: true, by: 'bob' }, { responder: bob })).toBe('stored');
});

it('the rule of a tool is told of the conversation and its tenant, and asked of the agent that calls', async () => {
  const scopes: unknown[] = [];
  const told: ApproverRule = (_responder, scope) => Boolean(scopes.push(scope));
  const tools = [{ ...pay, approvers: told }];
  const llmConfig = { model: 'scripted' };
  const helper = defineAgent({ name: 'helper', systemPrompt: '', tools, llmConfig });
  const { areMet } = createApproverDemands({
    store: { sessions: { read: async () => ({ agent: 'helper' }) } } as never,
    agents: new AgentRegistry([helper]),
  });
  const conversation = {
    sessionId: 'acme~s',
    agent: 'boss',
    owner: 'ann',
    tenant: 'acme',
    askers: [],
  };
  const input = { amount: 5 };
  const call = {
    runId: 'acme~s.1-x:1-r',
    toolCallId: 'c1',
    toolName: pay.name,
    kind: 'approval',
    input,
  };
  const spec = { ...call, approvers: { rule: true } } as never;
  expect(await areMet({ userId: 'bob' }, conversation, spec)).toBe(true);
  const { kind: _kind, ...of } = call;
  const whose = { sessionId: 's', owner: 'ann', tenantId: 'acme' };
  expect(scopes).toMatchObject([{ ...of, ...whose }]);
});

it('an operator of Temporal, whom nobody has verified, is no approver; and no id of another call counts', async () => {
  const { store, session, ask, answer, namesOf } = await start(undefined);
  await ask();
  const names = await namesOf();
  const logger = { warn: () => undefined };
  const ofRun = createAnswers({ store, agents, host: 'run', logger });
  const given = { sessionId: session.id, toolCallId: 'c1', kind: 'approval-response' } as const;
  const { runId } = await ofRun.submit({ ...given, ...names, approved: true, by: 'eve' });
  expect(await answer({ ...names, approved: true })).toBe('already_completed');
  const approvalId = formatApprovalId(runId, 'c9');
  expect(await answer({ ...names, approvalId, approved: true })).toBe('not_pending');
  const started = await session.start(runId, 1, 'c1');
  expect(started).toMatchObject({ kind: 'execute' });
  expect(started).not.toHaveProperty('approver');
});

/** Retries Ann's run as a colleague, until it asks. */
async function askAgain({ store, session }: Awaited<ReturnType<typeof start>>): Promise<void> {
  await session.stop();
  const resumed = await store.runs.resume({
    sessionId: session.id,
    nonce: 'again',
    mode: 'continue',
    by: 'bob',
    now: Date.now(),
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
    expect(await answer({ kind: cancel.kind, result: 1, by: 'ann' })).toBe('not_allowed');
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
  // Neither the host's rule nor the tool's schema has checked this answer.
  [undefined, 'not_pending'],
])(
  'an answer that overtakes the question is not taken without a check: %j',
  async (of, refusal) => {
    const { store, ask, answer, state } = await start(of);
    const { read } = store.calls;
    let isAsked = false;
    store.calls.read = async (...args) => {
      const before = await read(...args);
      // The step commits between the read and the answer.
      if (!isAsked) await ask();
      isAsked = true;
      return before;
    };
    const names = { approvalId: undefined, inputHash: undefined };
    const given = { approved: true, by: 'ann', input: { amount: 'much' }, ...names };
    expect(await answer(given)).toBe(refusal);
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

const BOB = { userId: 'bob', roles: ['approver' as const] };
const CAROL = { ...BOB, userId: 'carol' };

/** The refusal that shows the waiting call. */
const waits = (now: object): unknown => [
  'not_pending',
  { waiting: expect.objectContaining({ toolCallId: 'c1', ...now }) as unknown },
];

it('an approval of what was shown before an erasure is not one of what waits under the same names', async () => {
  const { store, session, ask, answer, namesOf, state } = await start({ roles: ['approver'] });
  await ask();
  const shown = await namesOf();
  await store.sessions.erase(session.id);
  const begun = await session.newRun({ owner: 'ann', agent: 'tester' });
  const swapped = { approvers: { roles: ['approver' as const] }, input: { amount: 777_777 } };
  await session.ask(begun.runId, 1, [newCall('c1', 'approval', swapped)]);
  const now = { ...(await namesOf()), input: { amount: 777_777 } };
  const bob = { responder: BOB };
  const none = { approvalId: undefined, inputHash: undefined };
  // The names are outdated, absent, or mixed with one of another call.
  for (const names of [
    shown,
    none,
    { ...shown, inputHash: now.inputHash },
    { ...shown, approvalId: now.approvalId },
    { ...none, approvalId: now.approvalId },
    { ...none, inputHash: now.inputHash },
  ]) {
    for (const approved of [true, false]) {
      expect(await answer({ approved, ...names }, bob)).toEqual(waits(now));
    }
    expect(await answer({ kind: 'client-tool-result', error: 'no', ...names }, bob)).toEqual(
      waits(now),
    );
  }
  // A person who may not decide does not learn which call waits.
  expect(await answer({ approved: true, ...shown }, { responder: { userId: 'eve' } })).toEqual([
    'not_allowed',
    { roles: ['approver'] },
  ]);
  expect(await state()).toBe('waiting');
  expect(await answer({ approved: true }, bob)).toBe('stored');
});

it('a posted message names a call by the approval id that came with its input', async () => {
  const { ask, answer, namesOf } = await start({ roles: ['approver'] });
  await ask();
  const posted = { responder: BOB, isPosted: true };
  const unhashed = { approved: true, inputHash: undefined };
  const none = { ...unhashed, approvalId: undefined };
  expect(await answer(none, posted)).toEqual(waits(await namesOf()));
  expect(await answer({ ...unhashed, approvalId: 's:9-x::c1' }, posted)).toEqual(
    waits(await namesOf()),
  );
  expect(await answer({ approved: true, inputHash: hashInput({ amount: 6 }) }, posted)).toEqual(
    waits(await namesOf()),
  );
  expect(await answer(unhashed, posted)).toBe('stored');
});

it('names are not demanded of a call without approvers, and compared where they are given', async () => {
  const { ask, answer, namesOf } = await start(undefined);
  await ask();
  const other = { approved: true, by: 'ann', inputHash: hashInput({ amount: 6 }) };
  expect(await answer(other)).toEqual(waits(await namesOf()));
  const none = { approvalId: undefined, inputHash: undefined };
  expect(await answer({ approved: true, by: 'ann', ...none })).toBe('stored');
});

it('who changes the input has asked: the change waits for another person, the asker included', async () => {
  const approvers = { separate: true };
  const { store, session, ask, answer, namesOf, state } = await start(approvers);
  await ask();
  const before = await namesOf();
  const change = { approved: true, by: 'bob', input: { amount: 9 }, reason: 'more' };
  expect(await answer({ ...change, by: 'ann' }, { responder: { userId: 'ann' } })).toBe(
    'not_allowed',
  );
  expect(await answer(change, { responder: BOB })).toBe('edited');
  const after = await namesOf();
  expect([after.approvalId, after.inputHash]).toEqual([
    before.approvalId,
    hashInput({ amount: 9 }),
  ]);
  const found = await store.sessions.withCalls(session.id);
  expect(toPendingQuestions(found?.openCalls ?? [])).toMatchObject([
    { input: { amount: 9 }, edited: { by: 'bob', from: { amount: 5 } } },
  ]);
  // The call stays open, and no client, stock ones included, can approve the model's own input.
  expect(await state()).toBe('waiting');
  const ofModel = { approved: true, ...before };
  expect(await answer(ofModel, { responder: CAROL })).toEqual(waits(after));
  const posted = { responder: CAROL, isPosted: true };
  expect(await answer({ ...ofModel, inputHash: undefined }, posted)).toEqual(waits(after));
  expect(await answer({ approved: true }, { responder: BOB })).toBe('not_allowed');
  expect(await answer({ approved: true, by: 'ann' }, { responder: { userId: 'ann' } })).toBe(
    'stored',
  );
  expect((await store.calls.read(session.id, 'c1'))?.decision).toMatchObject({
    approved: true,
    by: 'ann',
    input: { amount: 9 },
    inputBy: 'bob',
  });
  await store.audit.relay(session.id);
  const { entries } = await store.audit.page(undefined, { limit: 10 });
  const trail = entries.map(({ entry, name }) => [name, entry.action, entry.outcome]);
  expect(trail).toEqual([
    ['ann', 'approve', 'stored'],
    ['bob', 'approve', 'edited'],
  ]);
  for (const { entry } of entries) {
    expect(entry.inputHash).toBe(after.inputHash);
    expect(entry.detail).toEqual({ edited: true, inputHashBefore: before.inputHash });
  }
});

it('a change can be changed again, put back, withdrawn by both who asked, and lost to a faster one', async () => {
  const { store, session, ask, answer, namesOf } = await start({ separate: true });
  await ask();
  const change = (amount: number, more: object = {}) =>
    ({ approved: true, input: { amount }, ...more }) as const;
  // The current input is no change.
  const first = await namesOf();
  expect(await answer(change(9, { by: 'bob' }), { responder: BOB })).toBe('edited');
  expect(await answer(change(8, { by: 'carol', ...first }), { responder: CAROL })).toEqual(
    waits(await namesOf()),
  );
  expect(await answer(change(7, { by: 'carol' }), { responder: CAROL })).toBe('edited');
  expect(await answer(change(5, { by: 'bob' }), { responder: BOB })).toBe('edited');
  // Two people change the same input: the first change counts.
  const { read } = store.calls;
  let isRaced = false;
  store.calls.read = async (...args) => {
    const shown = await read(...args);
    if (!isRaced) {
      isRaced = true;
      expect(await answer(change(6, { by: 'carol' }), { responder: CAROL })).toBe('edited');
    }
    return shown;
  };
  expect(await answer(change(5, { by: 'eve' }), { responder: { userId: 'eve' } })).toBe(
    'not_pending',
  );
  store.calls.read = read;
  expect((await store.calls.read(session.id, 'c1'))?.spec).toMatchObject({
    input: { amount: 6 },
    edited: { n: 4, by: 'carol', from: { amount: 5 } },
  });
  expect(await answer({ approved: false, by: 'carol' }, { responder: CAROL })).toBe('stored');
});

it('without accounts there is no other person, so a change is approved at once', async () => {
  const { ask, answer } = await start({ separate: true });
  await ask();
  const everyone = { userId: 'anonymous', isEveryone: true };
  expect(await answer({ approved: true, input: { amount: 9 } }, { responder: everyone })).toBe(
    'stored',
  );
});

it('the deadline of a call with approvers is extended by one of them, who names what was shown', async () => {
  const { ask, extend, namesOf } = await start({ roles: ['approver'], separate: true });
  await ask();
  const names = await namesOf();
  expect(await extend({ by: 'ann', ...names })).toBe('not_allowed');
  expect(await extend(names, { responder: { userId: 'eve' } })).toEqual([
    'not_allowed',
    { roles: ['approver'] },
  ]);
  expect(await extend({}, { responder: BOB })).toEqual(waits(names));
  expect(await extend(names, { responder: BOB })).toBe('extended');
});
