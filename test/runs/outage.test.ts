import { plant } from '../support/stored-record.js';
import { LIMITS } from '../../protocol/limits.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
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

/** Clients back off for longer the longer an engine was away. */
const RECONNECT_MS = 60_000;

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
    await runs.executor.idle();
    const record = await stores.store.sessions.read(id);
    if (record === undefined) throw new Error('no session');
    await runs.client.workflow.getHandle(`run:${record.runId}`).terminate();
    await runs.executor.startRun(record);
    expect(await runs.workflows.state(record.runId)).toBe('closed');
  });

  it('a message does not wait for Temporal while it is down, and the sweep starts the run afterwards', async () => {
    await server.stop();
    const [id, other] = [runs.newSessionId(), runs.newSessionId()];
    for (const each of [id, other]) expect(await post(each)).toMatchObject({ kind: 'begun' });
    await runs.executor.idle();
    expect(await post(id)).toEqual({ kind: 'accepted' });
    await runs.sweep(id);
    expect(await stores.store.sessions.read(id)).toMatchObject({ status: 'starting' });

    // A run that did not start in time ends even while Temporal is away.
    const started = Date.now() - LIMITS.startWithinMs - 1;
    await plant(stores.redis, other, ({ run }) => {
      run.started = started;
    });
    await runs.due.note(other, -1_000);
    await runs.sweepDue();
    expect(await stores.store.sessions.read(other)).toMatchObject({
      status: 'failed',
      error: { code: 'engine_unavailable', retryable: true },
    });

    await server.restart();
    const worker = await runs.startWorker();
    const isOver = ({ status }: SessionRecord): boolean => status === 'completed';
    await runs.sweepUntil(id, 'the sweep has started it', isOver, RECONNECT_MS);
    await worker.stop();
  });
});
