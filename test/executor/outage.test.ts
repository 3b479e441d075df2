import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRunHarness, type RunHarness } from '../support/run-harness.js';
import { userMessage } from '../support/session-driver.js';
import { startTemporal, type TemporalServer } from '../support/temporal-server.js';
import { createTestAgent } from '../support/test-agent.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';

let server: TemporalServer;
let stores: TestStores;
let runs: RunHarness;
const { agent } = createTestAgent();

beforeAll(async () => {
  server = await startTemporal();
  stores = await openTestStores();
  runs = await createRunHarness(stores, [agent], server.address);
});

afterAll(() => server.close());

const post = (sessionId: string) =>
  runs.executor.execute({
    sessionId,
    agent: agent.name,
    owner: 'ann',
    messages: [userMessage('u1', 'hello')],
  });

describe('starting a run', () => {
  it('ten times at the same moment makes one workflow', async () => {
    const id = runs.newSessionId();
    const [first, ...others] = await Promise.all(Array.from({ length: 10 }, () => post(id)));
    expect([first, ...others].map((result) => result?.kind).sort()).toEqual([
      ...Array.from({ length: 9 }, () => 'accepted'),
      'begun',
    ]);
    const record = await stores.store.sessions.read(id);
    if (record === undefined) throw new Error('no session');
    await Promise.all(Array.from({ length: 10 }, () => runs.executor.startRun(record)));
    const query = `AgentSession = '${id}'`;
    const count = await until('it can be found', async () => {
      const { count } = await runs.client.workflow.count(query);
      return count > 0 ? count : undefined;
    });
    expect(count).toBe(1);
  });

  it('again after it has closed is harmless', async () => {
    const id = runs.newSessionId();
    await post(id);
    const record = await stores.store.sessions.read(id);
    if (record === undefined) throw new Error('no session');
    await runs.client.workflow.getHandle(`run:${record.runId}`).terminate();
    await runs.executor.startRun(record);
    expect(await runs.workflows.state(record.runId)).toBe('closed');
  });

  it('is unavailable while Temporal is down; the sweep starts it afterwards', async () => {
    await server.stop();
    const id = runs.newSessionId();
    await expect(post(id)).rejects.toMatchObject({ name: 'HelixError', code: 'unavailable' });
    // The message was accepted and is not lost: posted again, it is known.
    expect(await stores.store.sessions.read(id)).toMatchObject({ status: 'starting' });
    expect(await post(id)).toEqual({ kind: 'accepted' });
    await runs.sweep(id);
    expect(await stores.store.sessions.read(id)).toMatchObject({ status: 'starting' });

    await server.restart();
    const worker = await runs.startWorker();
    await until('the sweep has started it', async () => {
      await runs.sweep(id);
      return (await stores.store.sessions.read(id))?.status === 'completed';
    });
    await worker.stop();
  });
});
