import { createLabAgent } from '../../examples/lab/agent.js';
import { HelixError } from '../../protocol/errors.js';
import { createKeySpace } from '../../store/redis/keys.js';
import { workflowIdOf } from '../../protocol/ids.js';
import type { RunRecord } from '../../store/contract/runs.js';
import { createIdleRuns } from '../support/idle-workflows.js';
import { charge } from '../support/lab-calls.js';
import { createRunHarness, useRuns } from '../support/run-harness.js';
import { createGatedAgent } from '../support/gated-agent.js';
import { createTestAgent } from '../support/test-agent.js';
import { until } from '../support/until.js';

const { agent: talks } = createTestAgent();
const { agent: held, open, reached } = createGatedAgent();

const { runs, stores } = useRuns([createLabAgent({ countCharge: async () => 1 }), talks, held]);

const stored = (sessionId: string): Promise<string[]> => stores.redis.keys(`*{${sessionId}}*`);
/** Time for Temporal to delete a workflow with its history, ms. */
const DELETED_MS = 60_000;

const isOver = ({ runId }: Pick<RunRecord, 'runId'>): Promise<boolean> =>
  until(
    'the workflow is deleted',
    async () => (await runs.workflows.state(runId)) === 'unknown',
    // Temporal deletes in the background: within seconds under TEST_TEMPORAL_CONFIG.
    DELETED_MS,
  );

const keys = createKeySpace();
const script = (...entries: object[]): string => JSON.stringify({ script: entries });

describe('a session that is erased', () => {
  it.concurrent(
    'while its run waits for people ends the workflow, and nothing of it comes back',
    async () => {
      const id = runs.newSessionId();
      // The agent's tool changes state, which has no record to go to after the erasure.
      const run = await runs.begin(id, 'lab', script({ calls: [charge('c1')] }));
      await runs.untilStatus(id, 'waiting_approval');
      await runs.executor.deleteSession(id, 'ann');
      expect(await stored(id)).toEqual([]);
      await isOver(run);
      expect(await stored(id)).toEqual([]);
    },
  );

  it.concurrent('while its sub-agent waits for people ends the workflows of both', async () => {
    const id = runs.newSessionId();
    const args = { script: [{ calls: [charge('c1')] }] };
    const run = await runs.begin(
      id,
      'lab',
      script({ calls: [{ tool: 'delegate', id: 'd1', args }] }),
    );
    const call = await until('the sub-agent asks', async () => {
      const found = await stores.store.calls.read(id, 'c1');
      return found?.state === 'waiting' ? found : undefined;
    });
    const child = { ...run, runId: call.spec.runId };
    expect(workflowIdOf(child.runId)).not.toBe(workflowIdOf(run.runId));
    await runs.executor.deleteSession(id);
    await isOver(run);
    await isOver(child);
    expect(await stored(id)).toEqual([]);
  });

  it.concurrent(
    'while its model is silent ends the call of the model, and the workflow',
    async () => {
      const id = runs.newSessionId();
      const run = await runs.begin(id, talks.name, JSON.stringify({ hang: true }));
      await until('the model speaks', async () =>
        (await stores.streamManager.read(id, 0, 9)).some(
          ({ message }) => message.type === 'text_delta',
        ),
      );
      await runs.executor.deleteSession(id);
      // The model says nothing more and ends only by its abort signal.
      await isOver(run);
      expect(await stored(id)).toEqual([]);
    },
  );

  it.concurrent(
    'while its run is starting needs no engine; its workflow finds nothing and ends',
    async () => {
      const idle = await createRunHarness(stores, [talks]);
      const id = idle.newSessionId();
      const run = await idle.begin(id, talks.name, 'hello');
      const refuse = () => Promise.reject(new Error('no engine'));
      const workflows = { ...idle.workflows, state: refuse, erase: refuse };
      const executor = createIdleRuns(stores, { workflows });
      expect(await executor.deleteSession(id)).toMatchObject({ complete: false, workflows: 0 });
      // Redis keeps only the note of the work left in Temporal.
      expect(await stored(id)).toEqual([keys.gone(id)]);
      expect(await idle.workflows.state(run.runId)).toBe('running');
      // A sweep does that work once Temporal is back.
      await idle.startWorker();
      await idle.sweep(id);
      await isOver(run);
      expect(await stored(id)).toEqual([]);
    },
  );

  it.concurrent(
    'the id of an erased session is free at once, and chunks of the old run are refused',
    async () => {
      const id = runs.newSessionId();
      const old = await runs.begin(id, held.name, `call ${id}`);
      await reached(id);
      await runs.executor.deleteSession(id);
      const run = await runs.begin(id, held.name, 'hello');
      open(id);
      await isOver(old);
      expect(await runs.result(run)).toEqual({ status: 'completed', steps: 1 });
      expect((await stores.store.sessions.rows(id, 0)).map(({ role }) => role)).toEqual([
        'user',
        'assistant',
      ]);
    },
  );

  it.concurrent(
    'a session is not erased if its run cannot be reached, since its workflow would wait on',
    async () => {
      const id = runs.newSessionId();
      const run = await runs.begin(id, 'lab', script({ calls: [charge('c1')] }));
      await runs.untilStatus(id, 'waiting_approval');
      const outage = new HelixError('unavailable', 'The agents cannot be reached right now.');
      const workflows = { ...runs.workflows, state: () => Promise.reject(outage) };
      const executor = createIdleRuns(stores, { workflows });
      await expect(executor.deleteSession(id)).rejects.toBe(outage);
      expect(await stores.store.sessions.read(id)).toMatchObject({ status: 'aborted' });
      await runs.executor.deleteSession(id);
      await isOver(run);
    },
  );
});
