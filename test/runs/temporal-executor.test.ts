import { Client, Connection, type WorkflowClientInterceptor } from '@temporalio/client';
import { AgentNotFoundError, AgentRegistry } from '../../agents/index.js';
import { buildSnapshot } from '../../ai-sdk/index.js';
import { createLabAgent } from '../../examples/lab/agent.js';
import { createAgentExecutor } from '../../runs/temporal-executor.js';
import { createExecutor, type AgentExecutor } from '../../runs/executor.js';
import type { RunHandle } from '../../runs/run-handle.js';
import { AgentAlreadyRunningError } from '../../protocol/errors.js';
import type { PendingQuestion } from '../../protocol/replies.js';
import { formatApprovalId, toShownSessionId } from '../../protocol/ids.js';
import { toPendingQuestions } from '../../store/record/session-summaries.js';
import { charge } from '../support/lab-calls.js';
import { sharedTemporalAddress, useRuns } from '../support/run-harness.js';
import { createTestAgent } from '../support/test-agent.js';
import { openTestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';

const { agent } = createTestAgent();
const lab = createLabAgent({ countCharge: () => Promise.resolve(1) });
/** The lab agent with a deadline of one minute on its questions. */
const asking = {
  ...lab,
  tools: lab.tools.map((tool) => (tool.name === 'ask' ? { ...tool, deadlineMs: 60_000 } : tool)),
};
const { runs, stores } = useRuns([agent, asking]);
let executor: AgentExecutor;
/** An executor of another process on the same sessions. */
let elsewhere: AgentExecutor;
beforeAll(async () => {
  const agents = new AgentRegistry([agent, asking]);
  executor = createExecutor({ runs: runs.executor, agents, ...stores });
  const others = await openTestStores('api');
  elsewhere = createExecutor({ runs: runs.executor, agents, ...others });
});

const hang = JSON.stringify({ hang: true });
const fail = JSON.stringify({ fail: true });

async function textsOf(chunks: AsyncIterable<{ type: string; delta?: unknown }>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) if (chunk.type === 'text_delta') text += String(chunk.delta);
  return text;
}

const untilSpeaks = (sessionId: string): Promise<boolean> =>
  until('it speaks', async () => {
    const entries = await stores.streamManager.read(sessionId, 0, 9);
    return entries.some(({ message }) => message.type === 'text_delta');
  });

describe('a run', () => {
  it('a run begins a session, and its result has its text live and afterwards', async () => {
    const handle = await executor.execute(agent, 'hello', { userId: 'ann' });
    const texts = textsOf(handle.stream());
    const result = await handle.result();
    expect(result).toMatchObject({
      sessionId: handle.sessionId,
      runId: handle.runId,
      status: 'completed',
      text: 'You said hello',
    });
    expect(await texts).toBe('You said hello');
    const again = await elsewhere.getHandle(handle.sessionId);
    expect(await again?.result()).toEqual(result);
    expect(await executor.getCurrentRun(handle.sessionId)).toMatchObject({ status: 'completed' });
    expect(await executor.getHandle('unknown')).toBeNull();
    expect(await executor.getHandle(handle.sessionId, 'no run')).toBeNull();
    expect(await executor.getCurrentRun('unknown')).toBeNull();
  });

  it('a conversation of a tenant is found by its tenant, and its id is free for others', async () => {
    const sessionId = runs.newSessionId();
    for (const tenantId of ['acme', 'umbrella']) {
      const handle = await executor.execute(agent, tenantId, {
        sessionId,
        userId: 'ann',
        tenantId,
      });
      await handle.result();
      const copied = await executor.branch({ sessionId: handle.sessionId, by: 'ann' });
      for (const id of [handle.sessionId, copied.sessionId]) {
        const caller = { userId: 'ann', tenantId };
        const shown = { sessionId: toShownSessionId(id), caller };
        const snapshot = await buildSnapshot({ ...stores, stateStore: stores.store }, shown);
        expect(JSON.stringify(snapshot?.messages)).toContain(`You said ${tenantId}`);
      }
    }
  });

  it('a run shows its own chunks and result when later runs follow', async () => {
    const first = await executor.execute(agent.name, 'one');
    const { sessionId } = first;
    await first.result();
    const second = await executor.execute(agent.name, 'two', { sessionId });
    await second.result();
    expect(await textsOf(first.stream())).toBe('You said one');
    expect(await textsOf(second.stream())).toBe('You said two');
    expect(await first.result()).toMatchObject({ text: 'You said one' });
    const stream = second.stream();
    for await (const chunk of stream) if (chunk.type === 'text_delta') break;
    const rest = second.stream({ fromSequence: stream.currentSequence });
    expect(await textsOf(rest)).not.toContain('You said one');
    expect((await executor.listRuns(sessionId)).map(({ runId }) => runId)).toEqual([
      first.runId,
      second.runId,
    ]);
  });

  it('a run is refused while another one is active, and a repeated message gives the same run', async () => {
    const messages = [{ id: 'm1', content: hang }];
    const handle = await executor.execute(agent, messages);
    const { sessionId, runId } = handle;
    expect((await executor.execute(agent, messages, { sessionId })).runId).toBe(runId);
    await expect(executor.execute(agent, 'another', { sessionId })).rejects.toBeInstanceOf(
      AgentAlreadyRunningError,
    );
    const changed = [{ id: 'm1', content: 'changed' }];
    await expect(executor.execute(agent, changed, { sessionId })).rejects.toMatchObject({
      code: 'message_conflict',
    });
    await expect(
      executor.execute(agent, 'hello', { sessionId, userId: 'eve' }),
    ).rejects.toMatchObject({ code: 'not_found' });
    await handle.abort();
    await handle.result();
  });

  it('start refuses malformed input', async () => {
    await expect(executor.execute('unknown', 'x')).rejects.toBeInstanceOf(AgentNotFoundError);
    const invalid = { code: 'validation_error' };
    await expect(executor.execute(agent, [{ content: '' }])).rejects.toMatchObject(invalid);
    const place = { type: 'data-place', data: 'Bern' } as const;
    for (const parts of [[place], [{ type: 'text' as const, text: '' }, place]]) {
      await expect(executor.execute(agent, [{ parts }])).rejects.toMatchObject(invalid);
    }
    await expect(executor.execute(agent, 'x', { sessionId: 'a b' })).rejects.toMatchObject(invalid);
    const list: unknown = [];
    await expect(
      executor.execute(agent, { message: 'x', state: list as Record<string, unknown> }),
    ).rejects.toMatchObject(invalid);
    const deep = JSON.parse('{"a":'.repeat(501) + '1' + '}'.repeat(501)) as Record<string, unknown>;
    for (const given of [deep, { n: 1n }]) {
      await expect(executor.execute(agent, { message: 'x', state: given })).rejects.toMatchObject(
        invalid,
      );
      await expect(executor.execute(agent, 'x', { metadata: given })).rejects.toMatchObject(
        invalid,
      );
    }
  });

  it('a run starts with the given state', async () => {
    const handle = await executor.execute(agent, { message: 'hello', state: { plan: ['a'] } });
    expect(await stores.store.documents.load(handle.sessionId)).toMatchObject({
      customState: { plan: ['a'] },
    });
    await handle.result();
  });
});

describe('a result', () => {
  it('the result of a failed run names the failure', async () => {
    const handle = await executor.execute(agent, fail);
    expect(await handle.result()).toMatchObject({
      status: 'failed',
      error: { code: expect.stringContaining('') as unknown, retryable: false },
    });
    expect((await stores.store.sessions.read(handle.sessionId))?.error).toEqual(
      ((await handle.result()) as { error?: unknown }).error,
    );
  });

  it('the result of a run that another process interrupts or aborts names it', async () => {
    for (const mode of ['interrupt', 'abort'] as const) {
      const handle = await executor.execute(agent, hang);
      const result = handle.result();
      await untilSpeaks(handle.sessionId);
      await elsewhere[mode](handle.sessionId, { reason: 'enough', by: 'ann' });
      expect(await result).toMatchObject(
        mode === 'interrupt'
          ? { status: 'interrupted', text: 'And', reason: 'enough' }
          : { status: 'failed', text: 'And', error: { code: 'framework_cancelled' } },
      );
      // The run has ended: another stop finds nothing.
      expect(await handle.interrupt()).toMatchObject({ kind: 'nothing' });
    }
  });

  it('a caller can give up the wait for a result', async () => {
    const handle = await executor.execute(agent, hang);
    const giveUp = new AbortController();
    const result = handle.result({ signal: giveUp.signal });
    giveUp.abort(new Error('enough'));
    await expect(result).rejects.toThrow('enough');
    await handle.abort();
  });
});

const perform = (...script: object[]) => executor.execute(asking, JSON.stringify({ script }));
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
      pending: [{ toolCallId: 'c1', toolName: 'charge' }],
    });
    const found = await elsewhere.getHandle(handle.sessionId);
    expect(await found?.result()).toEqual(waiting);
    expect(await handle.submitToolResult(yes('c1'))).toMatchObject({ resumed: true });
    expect(await found?.result()).toMatchObject({ status: 'completed', text: 'all paid' });
  });

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
});

async function pendingOf(handle: RunHandle): Promise<PendingQuestion[]> {
  const result = await handle.result();
  if (!('pending' in result)) throw new Error(`the run is ${result.status}`);
  return result.pending;
}

it('a program resumes an interrupted run once, with or without a message, and not after it has ended for good', async () => {
  const handle = await executor.execute(agent, hang);
  const { sessionId } = handle;
  await untilSpeaks(sessionId);
  await handle.interrupt({ by: 'ann' });
  expect(await handle.result()).toMatchObject({ status: 'interrupted' });
  const next = await executor.resume({ sessionId, by: 'bob' });
  expect(next.runId).not.toBe(handle.runId);
  // The run is active, so another resume returns the same run.
  for (const each of [next, handle]) expect((await each.resume()).runId).toBe(next.runId);
  await next.interrupt();
  await next.result();
  const third = await next.resume({ message: 'something else' });
  expect(await third.result()).toMatchObject({
    status: 'completed',
    text: 'You said something else',
  });
  expect(await executor.getCurrentRun(sessionId)).toMatchObject({ mode: 'with_message' });
  await expect(third.resume({ mode: 'with_message' })).rejects.toMatchObject({
    code: 'nothing_to_do',
  });
  await expect(third.resume()).rejects.toMatchObject({ code: 'not_resumable' });
  await expect(handle.resume()).rejects.toMatchObject({ code: 'stale_run' });
});

it('an executor starts its runs through the client that a program gives it', async () => {
  const connection = await Connection.connect({ address: sharedTemporalAddress() });
  atEndOfFile(() => connection.close());
  const started: string[] = [];
  const watch: WorkflowClientInterceptor = {
    startWithDetails: (input, next) => {
      started.push(input.options.workflowId);
      return next(input);
    },
  };
  const client = new Client({ connection, interceptors: { workflow: [watch] } });
  const { taskQueue } = runs;
  const own = await createAgentExecutor({ client, taskQueue, agents: [agent], stores });
  const handle = await own.execute(agent, 'hello');
  expect(await handle.result()).toMatchObject({ status: 'completed', text: 'You said hello' });
  expect(started).toEqual([`run:${handle.runId}`]);
  expect(own.namespace).toBe('default');
});
