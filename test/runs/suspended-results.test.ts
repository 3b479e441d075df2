import { AgentRegistry } from '../../agents/index.js';
import { createLabAgent } from '../../examples/lab/agent.js';
import { createExecutorOf, type AgentExecutor } from '../../runs/executor-of.js';
import type { RunHandle } from '../../runs/run-handle.js';
import { formatApprovalId } from '../../protocol/ids.js';
import type { PendingQuestion } from '../../protocol/http.js';
import { toPendingQuestions } from '../../store/record/session-summaries.js';
import { charge } from '../support/lab-calls.js';
import { createRunHarness } from '../support/run-harness.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';

const lab = createLabAgent({ countCharge: () => Promise.resolve(1) });
/** The lab agent, whose questions can be answered for a minute. */
const agent = {
  ...lab,
  tools: lab.tools.map((tool) => (tool.name === 'ask' ? { ...tool, deadlineMs: 60_000 } : tool)),
};
let stores: TestStores;
let executor: AgentExecutor;
/** The same sessions, seen from another process. */
let elsewhere: AgentExecutor;

beforeAll(async () => {
  stores = await openTestStores();
  const runs = await createRunHarness(stores, [agent]);
  const agents = new AgentRegistry([agent]);
  executor = createExecutorOf({ runs: runs.executor, agents, ...stores });
  const others = await openTestStores('api');
  elsewhere = createExecutorOf({ runs: runs.executor, agents, ...others });
  await runs.startWorker();
});

const perform = (...script: object[]) => executor.execute(agent, JSON.stringify({ script }));
const yes = (toolCallId: string) =>
  ({ kind: 'approval-response', toolCallId, approved: true }) as const;

describe('the result of a run that waits', () => {
  it('the result of a waiting run is a partial step if other calls have results, and the end after the answers', async () => {
    const handle = await perform(
      { calls: [{ tool: 'echo', id: 'e' }, charge('c1'), charge('c2')] },
      { say: 'paid' },
    );
    const partial = {
      status: 'suspended_step_partial',
      suspended: { toolCallIds: ['c1', 'c2'], stepId: 's1' },
    };
    expect(await handle.result()).toMatchObject(partial);
    const found = await elsewhere.getHandle(handle.sessionId);
    expect(await found?.result()).toMatchObject(partial);
    expect(await handle.submitToolResult(yes('c2'))).toMatchObject({ resumed: false });
    expect(await found?.result()).toMatchObject({ status: 'suspended_step_partial' });
    expect(await handle.submitToolResult(yes('c1'))).toMatchObject({ resumed: true });
    expect(await found?.result()).toMatchObject({ status: 'completed', text: 'paid' });
  });

  it('the result of a waiting run names its sub-agents, whose calls its own handle answers', async () => {
    const script = [{ calls: [charge('c1')] }, { say: 'paid below' }];
    const handle = await perform(
      { calls: [{ tool: 'delegate', id: 'd1', args: { script } }] },
      { say: 'all paid' },
    );
    const waiting = await handle.result();
    expect(waiting).toMatchObject({
      status: 'suspended_awaiting_children',
      suspended: { children: [{ subAgentType: 'lab-child', callId: 'd1' }] },
    });
    const found = await elsewhere.getHandle(handle.sessionId);
    expect(await found?.result()).toEqual(waiting);
    expect(await handle.submitToolResult(yes('c1'))).toMatchObject({ resumed: true });
    expect(await found?.result()).toMatchObject({ status: 'completed', text: 'all paid' });
  });

  it('the result of a run that waits once more names its questions again', async () => {
    const handle = await perform({ calls: [charge('a')] }, { calls: [charge('b')] });
    for (const id of ['a', 'b']) {
      expect(await handle.result()).toMatchObject({
        status: 'suspended_client_tool',
        suspended: { toolCallIds: [id] },
      });
      await handle.submitToolResult(yes(id));
    }
    expect(await handle.result()).toMatchObject({ status: 'completed', text: 'done' });
  });
});

describe('what a run waits for', () => {
  it('the result has the questions as in the snapshot, and a program answers them with no more', async () => {
    const handle = await perform(
      { calls: [charge('c1', 5), charge('c2', 9), { tool: 'locate', id: 'l1' }] },
      { calls: [{ tool: 'ask', id: 'a1', args: { question: 'Which one?' } }] },
      { say: 'paid' },
    );
    const first = await pendingOf(handle);
    expect(first).toMatchObject([
      {
        toolCallId: 'c1',
        toolName: 'charge',
        kind: 'approval',
        agent: 'lab',
        input: { amount: 5 },
        schema: { required: ['amount'] },
        approvalId: formatApprovalId(handle.runId, 'c1'),
      },
      { toolCallId: 'c2', kind: 'approval', input: { amount: 9 } },
      { toolCallId: 'l1', toolName: 'locate', kind: 'client', input: {} },
    ]);
    const view = await stores.store.sessions.view(handle.sessionId);
    expect(first).toEqual(toPendingQuestions(view?.openCalls ?? []));

    await handle.approve('c1', { input: { amount: 4 }, reason: 'a discount', by: 'ann' });
    expect(await handle.deny('c2', { reason: 'too much' })).toMatchObject({ resumed: false });
    expect(await pendingOf(handle)).toHaveLength(1);
    await handle.answer('l1', { result: { city: 'Rome' } });

    const [asked] = await pendingOf(handle);
    expect(asked).toMatchObject({
      toolName: 'ask',
      kind: 'client',
      input: { question: 'Which one?' },
    });
    expect(asked?.deadline).toBeGreaterThan(Date.now() - 60_000);
    await handle.answer('a1', { error: 'I do not know' });
    expect(await handle.result()).toMatchObject({ status: 'completed', text: 'paid' });
    const rows = await stores.store.sessions.rows(handle.sessionId, 0);
    expect(rows.filter(({ role }) => role === 'tool')).toMatchObject([
      { toolCallId: 'c1', output: { charged: 4 }, decision: { by: 'ann', reason: 'a discount' } },
      { toolCallId: 'c2', denied: true, decision: { reason: 'too much' } },
      { toolCallId: 'l1', output: { city: 'Rome' } },
      { toolCallId: 'a1', error: 'I do not know' },
    ]);
  });

  it('the questions of a run include those of its sub-agents', async () => {
    const script = [{ calls: [charge('c1')] }];
    const handle = await perform({ calls: [{ tool: 'delegate', id: 'd1', args: { script } }] });
    expect(await pendingOf(handle)).toMatchObject([{ toolCallId: 'c1', toolName: 'charge' }]);
    await handle.approve('c1');
    expect(await handle.result()).toMatchObject({ status: 'completed' });
  });
});

async function pendingOf(handle: RunHandle): Promise<PendingQuestion[]> {
  const result = await handle.result();
  if (!('pending' in result)) throw new Error(`the run is ${result.status}`);
  return result.pending;
}
