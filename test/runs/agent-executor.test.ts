import { AgentNotFoundError, AgentRegistry } from '../../agents/index.js';
import { buildSnapshot } from '../../ai-sdk/index.js';
import { createExecutorOf, type AgentExecutor } from '../../runs/executor-of.js';
import { AgentAlreadyRunningError } from '../../protocol/errors.js';
import { formatApprovalId, toShownSessionId } from '../../protocol/ids.js';
import { createRunHarness, type RunHarness } from '../support/run-harness.js';
import { createTestAgent } from '../support/test-agent.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';

let stores: TestStores;
let runs: RunHarness;
let executor: AgentExecutor;
/** The same sessions, seen from another process. */
let elsewhere: AgentExecutor;
const { agent } = createTestAgent();

beforeAll(async () => {
  stores = await openTestStores();
  runs = await createRunHarness(stores, [agent]);
  const agents = new AgentRegistry([agent]);
  executor = createExecutorOf({ runs: runs.executor, agents, ...stores });
  const others = await openTestStores('api');
  elsewhere = createExecutorOf({ runs: runs.executor, agents, ...others });
  await runs.startWorker();
});

const charge = (id: string): string => JSON.stringify({ calls: [{ tool: 'charge', id }] });
const hang = JSON.stringify({ hang: true });
const fail = JSON.stringify({ fail: true });

async function textsOf(chunks: AsyncIterable<{ type: string; delta?: unknown }>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) if (chunk.type === 'text_delta') text += String(chunk.delta);
  return text;
}

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
      await until('it speaks', async () => {
        const entries = await stores.streamManager.read(handle.sessionId, 0, 9);
        return entries.some(({ message }) => message.type === 'text_delta');
      });
      await elsewhere[mode](handle.sessionId, { reason: 'enough', by: 'ann' });
      expect(await result).toMatchObject(
        mode === 'interrupt'
          ? { status: 'interrupted', text: 'And', reason: 'enough' }
          : { status: 'failed', text: 'And', error: { code: 'framework_cancelled' } },
      );
      // The run has ended: stopping it again stops nothing.
      expect(await handle.interrupt()).toMatchObject({ kind: 'nothing' });
    }
  });

  it('a result names the questions that the run waits for, and the next one after the answer is the end', async () => {
    const handle = await executor.execute(agent, charge('c1'));
    const { sessionId, runId } = handle;
    const suspended = { status: 'suspended_client_tool', suspended: { toolCallIds: ['c1'] } };
    expect(await handle.result()).toMatchObject(suspended);
    const found = await elsewhere.getHandle(sessionId);
    expect(await found?.result()).toMatchObject(suspended);
    const answer = {
      kind: 'approval-response' as const,
      toolCallId: 'c1',
      approvalId: formatApprovalId(runId, 'c1'),
      approved: true,
    };
    expect(await handle.submitToolResult(answer)).toMatchObject({ resumed: true });
    expect(await found?.result()).toMatchObject({ status: 'completed', text: 'done' });
    await expect(handle.submitToolResult(answer)).rejects.toMatchObject({
      code: expect.stringMatching(/already_completed|not_pending/) as unknown,
    });
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
