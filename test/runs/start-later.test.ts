import { randomBytes } from 'node:crypto';
import { AgentRegistry } from '../../agents/index.js';
import { createExecutor, type AgentExecutor } from '../../runs/executor.js';
import { createRunList } from '../../extensions/console/run-list.js';
import { workflowIdOf } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import type { AgentState } from '../../protocol/run.js';
import { startApi, type ApiServer } from '../api/api-server.js';
import { createRunHarness, useRuns, type RunHarness } from '../support/run-harness.js';
import { createTestAgent } from '../support/test-agent.js';
import { until } from '../support/until.js';

const { agent } = createTestAgent();
const HOUR = 3_600_000;
const FORMS = /startAt: must be a time in ms since 1970, or ISO 8601 with an offset, [^;]*$/;

const { runs, stores } = useRuns([agent]);
const agents = new AgentRegistry([agent]);
const executorOf = (of: RunHarness): AgentExecutor =>
  createExecutor({ runs: of.executor, agents, ...stores });
let api: ApiServer | undefined;

/** Reads the state that the run's workflow gives operators. */
async function stateOf(runId: string): Promise<AgentState> {
  return runs.client.workflow.getHandle(workflowIdOf(runId)).query<AgentState>('agentState');
}

async function untilWaits(runId: string): Promise<void> {
  await until('its workflow waits', () =>
    stateOf(runId).then(
      ({ phase }) => phase === 'start',
      () => false,
    ),
  );
}

describe('a run that begins later', () => {
  it.concurrent('begins at its time', async () => {
    const startAt = Date.now() + 1_500;
    const handle = await executorOf(runs).execute('tester', 'hello', { startAt });
    expect(await handle.result()).toMatchObject({ status: 'completed', text: 'You said hello' });
    const { updatedAt = 0 } = (await stores.store.sessions.read(handle.sessionId)) ?? {};
    expect(updatedAt).toBeGreaterThanOrEqual(startAt);
  });

  it.concurrent(
    'waits in the record and in Temporal, across workers, until it is stopped',
    async () => {
      const own = await createRunHarness(stores, [agent]);
      const executor = executorOf(own);
      const first = await own.startWorker();
      const startAt = Date.now() + HOUR;
      const { post, get } = await startApi({ ...stores, executor, agents });
      const reply = await post('/api/agent/start', {
        agent: 'tester',
        message: 'hello',
        startAt: new Date(startAt).toISOString(),
      });
      expect(reply.status).toBe(202);
      const { sessionId, runId } = (await reply.json()) as { sessionId: string; runId: string };
      await untilWaits(runId);
      const standing = { status: 'starting', waitingFor: 'start', startAt };
      for (const path of [`agent/status?sessionId=${sessionId}`, `chat/${sessionId}/snapshot`]) {
        expect(await (await get(`/api/${path}`)).json()).toMatchObject({ run: standing });
      }
      const list = createRunList(own.executor.temporal);
      await until('the list has it', async () => {
        const { runs: listed } = await list.list({ status: 'starting' }, { limit: 100 });
        return listed.some((each) => each.runId === runId);
      });
      await first.stop();
      await own.startWorker();
      await own.sweep(sessionId);
      const status = await get(`/api/agent/status?sessionId=${sessionId}`);
      expect(await status.json()).toMatchObject({ run: standing });
      const again = await post('/api/agent/start', { agent: 'tester', message: 'x', sessionId });
      expect([again.status, await again.json()]).toMatchObject([
        409,
        { code: 'agent_already_running' },
      ]);
      expect(await executor.interrupt(sessionId)).toMatchObject({ kind: 'ended' });
      const workflow = runs.client.workflow.getHandle(workflowIdOf(runId));
      expect(await workflow.result()).toMatchObject({ steps: 0 });
      const next = await executor.execute('tester', 'at once', { sessionId });
      expect(await next.result()).toMatchObject({ text: 'You said at once' });
    },
  );

  it.concurrent(
    'is started by the sweeper if its workflow was never started, and still waits then',
    async () => {
      const sessionId = runs.newSessionId();
      const startAt = Date.now() + HOUR;
      const begun = await stores.store.runs.begin({
        sessionId,
        agent: 'tester',
        owner: 'ann',
        nonce: randomBytes(4).toString('hex'),
        messages: [{ id: 'u1', hash: 'h', hidden: false, row: USER }],
        now: Date.now() - 10_000,
        startAt,
      });
      if (begun.kind !== 'begun') throw new Error(begun.kind);
      await runs.sweep(sessionId);
      const { runId } = begun.run;
      await untilWaits(runId);
      const swept = await runs.executor.sweepSession(sessionId);
      expect(swept.kind === 'active' && swept.againMs).toBeGreaterThan(HOUR / 2);
      await executorOf(runs).abort(sessionId);
    },
  );

  it.each([
    ['a time without an offset', '2030-01-01T00:00:00', FORMS],
    ['no time', 'tomorrow', FORMS],
    ['a fraction', 1.5, FORMS],
    ['more than a year', Date.now() + LIMITS.startAheadMs + HOUR, /at most a year/],
    ['a time in seconds', Math.floor(Date.now() / 1_000) + 3_600, /not seconds/],
  ])('is refused for %s, with what it must be', async (_, startAt, message) => {
    api ??= await startApi({ ...stores, executor: executorOf(runs), agents });
    const reply = await api.post('/api/agent/start', { agent: 'tester', message: 'x', startAt });
    const refusal = { code: 'validation_error', error: expect.stringMatching(message) };
    expect([reply.status, await reply.json()]).toMatchObject([400, refusal]);
    await expect(executorOf(runs).execute('tester', 'x', { startAt })).rejects.toMatchObject({
      code: 'validation_error',
    });
  });
});

const USER = { role: 'user' as const, id: 'u1', parts: [{ type: 'text' as const, text: 'hi' }] };
