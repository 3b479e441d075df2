import { AgentRegistry } from '../../agents/index.js';
import { createExecutorOf, type AgentExecutor } from '../../runs/executor-of.js';
import type { RunHandle } from '../../runs/run-handle.js';
import { createRunHarness, type RunHarness } from '../support/run-harness.js';
import { createTestAgent } from '../support/test-agent.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';

let stores: TestStores;
let runs: RunHarness;
let executor: AgentExecutor;
const { agent } = createTestAgent();

beforeAll(async () => {
  stores = await openTestStores();
  runs = await createRunHarness(stores, [agent]);
  executor = createExecutorOf({
    runs: runs.executor,
    agents: new AgentRegistry([agent]),
    ...stores,
  });
  await runs.startWorker();
});

/** A run that was interrupted while its model spoke. */
async function newInterrupted(): Promise<RunHandle> {
  const handle = await executor.execute(agent, JSON.stringify({ hang: true }));
  await until(
    'it speaks',
    async () => (await stores.streamManager.getAllChunks(handle.sessionId)).length > 1,
  );
  await handle.interrupt({ by: 'ann' });
  expect(await handle.result()).toMatchObject({ status: 'interrupted' });
  return handle;
}

describe('what a program does with a run that rests', () => {
  it('a program resumes an interrupted run once, and not after it has ended for good', async () => {
    const handle = await newInterrupted();
    const { sessionId } = handle;
    expect(await executor.canResume(sessionId)).toMatchObject({ canResume: true });
    const next = await executor.resume({ sessionId, by: 'bob' });
    expect(next.runId).not.toBe(handle.runId);
    expect(await executor.getCurrentRun(sessionId)).toMatchObject({
      runId: next.runId,
      mode: 'continue',
      by: 'bob',
    });
    // It is active: resumed again, it is the same.
    expect((await next.resume()).runId).toBe(next.runId);
    expect((await handle.resume()).runId).toBe(next.runId);
    await next.abort();
    await next.result();
    await expect(next.resume()).rejects.toMatchObject({ code: 'not_resumable' });
    await expect(handle.resume()).rejects.toMatchObject({ code: 'stale_run' });
    expect(await executor.canResume(sessionId)).toMatchObject({ canResume: false });
  });

  it('a program continues an interrupted run with a message', async () => {
    const handle = await newInterrupted();
    const next = await handle.resume({ message: 'something else', by: 'bob' });
    expect(await next.result()).toMatchObject({
      status: 'completed',
      text: 'You said something else',
    });
    expect(await executor.getCurrentRun(handle.sessionId)).toMatchObject({ mode: 'with_message' });
    await expect(next.resume({ mode: 'with_message' })).rejects.toMatchObject({
      code: 'nothing_to_do',
    });
  });

  it('a program repeats a turn, goes back to a checkpoint, and copies up to one', async () => {
    const first = await executor.execute(agent, 'one');
    const { sessionId } = first;
    await first.result();
    const [checkpoint] = (await stores.store.checkpoints.list(sessionId)).checkpoints;
    const second = await executor.execute(agent, 'two', { sessionId });
    await second.result();

    const again = await executor.retry({ sessionId, by: 'ann' });
    expect(await again.result()).toMatchObject({ status: 'completed', text: 'You said two' });
    expect(await stores.store.sessions.rows(sessionId, 0)).toHaveLength(4);

    const copy = await executor.branch({ sessionId, checkpointId: checkpoint?.id ?? '' });
    expect(await stores.store.sessions.rows(copy.sessionId, 0)).toHaveLength(2);
    expect((await executor.listRuns(copy.sessionId)).map(({ mode }) => mode)).toEqual(['branch']);
    await expect(executor.retry({ sessionId: 'unknown' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});
