import { z } from 'zod';
import { AgentRegistry, defineTool } from '../../agents/index.js';
import { formatWebhookToken } from '../../protocol/answers.js';
import { formatApprovalId } from '../../protocol/ids.js';
import { createAnswers } from '../../runs/record/answers.js';
import { approval, client, server } from '../../store/conformance/fixtures.js';
import { childAt, grow, heldCall } from '../../store/conformance/tree.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { drive, type SessionDriver } from '../support/session-driver.js';
import { fakeAgent } from '../support/fake-agent.js';

/** Creates an agent whose tools have results of this kind. */
function createAgent(name: string, value: z.ZodType) {
  const common = { description: 'x', inputSchema: z.object({}), outputSchema: z.object({ value }) };
  const tools = [
    defineTool({ ...common, name: 'server-tool', execute: () => ({ value: 1 }) }),
    defineTool({ ...common, name: 'client-tool', execute: 'client' }),
    defineTool({
      ...common,
      name: 'approval-tool',
      inputSchema: z.object({ of: z.string() }),
      requireApproval: true,
      execute: () => ({ value: 1 }),
    }),
  ];
  return fakeAgent(name, 'scripted', { tools });
}
const agents = new AgentRegistry([
  createAgent('tester', z.number()),
  createAgent('helper', z.string()),
]);

function open() {
  const stores = createMemoryStores();
  const session = drive(stores);
  const logger = { warn: () => undefined };
  const { store } = stores;
  const answers = createAnswers({ store, agents, host: 'api', holdMs: 1, logger });
  const secret = 'A'.repeat(43);
  /** Has the call `s` of a first step wait for its webhook. */
  const startHooked = async (of: SessionDriver, runId: string) => {
    const base = { writer: of.callWriter(runId, 1, 's', 1), toolCallId: 's', now: Date.now() };
    await store.calls.start({ ...base, hook: secret });
    return () => store.calls.suspend(base);
  };
  const call = (payload: unknown, by = secret) => {
    const token = formatWebhookToken({ sessionId: session.id, toolCallId: 's', secret: by });
    return answers.callWebhook(token, payload);
  };
  return { ...stores, session, answers, startHooked, call };
}

it('a webhook takes what fits its tool, from those who have its address, while the call waits', async () => {
  const { session, startHooked, call } = open();
  const { runId } = await session.asked(server('s'));
  const suspend = await startHooked(session, runId);
  const stranger = 'B'.repeat(43);
  await expect(call({ value: 1 }, stranger)).rejects.toMatchObject({ code: 'not_found' });
  await suspend();
  await expect(call('unfit', stranger)).rejects.toMatchObject({ code: 'not_found' });
  await expect(call('unfit')).rejects.toMatchObject({ code: 'invalid_result' });
  await session.stop();
  await expect(call({ value: 1 })).rejects.toMatchObject({ code: 'webhook_closed' });
});

it('an answer is checked against the tool only if it is of its kind', async () => {
  const { session, answers } = open();
  const { runId } = await session.asked(approval('a'), client('c'));
  const submit = async (toolCallId: string, answer: object, of = runId) => {
    const approvalId = formatApprovalId(of, toolCallId);
    const named = { sessionId: session.id, toolCallId, approvalId, by: 'ann', ...answer };
    const { result, runId: asker } = await answers.submit(named);
    return [result.kind, asker];
  };
  const unfit = { input: 'unfit', result: 'unfit' };
  const approves = { kind: 'approval-response', approved: true };
  const gives = { kind: 'client-tool-result' };
  await expect(submit('a', { ...approves, input: 'unfit' })).rejects.toMatchObject({
    code: 'invalid_input',
  });
  await expect(submit('c', { ...gives, result: 'unfit' })).rejects.toMatchObject({
    code: 'invalid_result',
  });
  expect(await submit('a', { ...gives, result: unfit })).toEqual(['kind_mismatch', runId]);
  expect(await submit('c', { ...approves, input: unfit })).toEqual(['kind_mismatch', runId]);
  expect(await submit('a', approves)).toEqual(['stored', runId]);
  const older = `${session.id}:1-older`;
  expect(await submit('a', approves, older)).toEqual([expect.any(String), older]);
});

it('who approves or extends is known with the tenant, and an extension is in the audit trail', async () => {
  const { session, answers, store } = open();
  const { runId } = await session.newRun({ tenant: 'acme' });
  await session.ask(runId, 1, [approval('a', { deadlineMs: 60_000 })]);
  const of = { sessionId: session.id, toolCallId: 'a', by: 'ann' };
  const { deadline = 0 } = (await session.call('a')) ?? {};
  await answers.extendDeadline({ ...of, byMs: 1_000, reason: 'lunch' });
  expect((await session.call('a'))?.deadline).toBe(deadline + 1_000);
  await answers.submit({ ...of, kind: 'approval-response', approved: true });
  expect(await session.start(runId, 1, 'a')).toMatchObject({
    approver: { userId: 'ann', tenantId: 'acme' },
  });
  const late = await answers.extendDeadline({ ...of, byMs: 1_000, inputHash: 'of another' });
  expect(late.kind).toBe('already_completed');
  await store.audit.relay(session.id);
  const { entries } = await store.audit.page('acme', { limit: 9 });
  expect(entries.map(({ entry }) => [entry.action, entry.detail])).toContainEqual([
    'extend',
    { byMs: 1_000 },
  ]);
});

it('an answer to a sub-agent is of its run, and permitted by the conversation', async () => {
  const opened = open();
  const { session, answers, startHooked, call, store } = opened;
  const tree = await grow(opened, 1, () => []);
  const { driver, ref } = childAt(tree, 0);
  await driver.ask(ref.runId, 1, [heldCall(ref.runId, 'a'), client('c'), server('s')]);
  const suspend = await startHooked(driver, ref.runId);
  await suspend();
  const permitted: string[] = [];
  const permit = async ({ sessionId }: { sessionId: string }) => void permitted.push(sessionId);
  const approvalId = formatApprovalId(ref.runId, 'a');
  const answer = { kind: 'approval-response', approved: true, by: 'ann' } as const;
  const of = { sessionId: session.id, toolCallId: 'a', approvalId };
  const { record, runId, result } = await answers.submit({ ...answer, ...of }, { permit });
  expect([record?.sessionId, runId, result.kind]).toEqual([driver.id, ref.runId, 'stored']);
  expect(permitted).toEqual([session.id]);
  const lease = { sessionId: session.id, toolCallId: 'c', holder: 'page', forMs: 60_000 };
  expect(await answers.leaseCall(lease)).toMatchObject({ kind: 'leased' });
  // The tool is the sub-agent's.
  await expect(call({ value: 1 })).rejects.toMatchObject({ code: 'invalid_result' });
  await call({ value: 'x' });
  expect(await store.calls.read(session.id, 's')).toMatchObject({ state: 'settled' });
});
