import { plant, plantSilence } from '../support/stored-record.js';
import { createReconcile } from '../../runs/reconcile.js';
import { workflowIdOf } from '../../protocol/ids.js';
import { type DueList, dueShardOf } from '../../store/contract/due.js';
import type { RunRecord } from '../../store/contract/runs.js';
import { createKeySpace } from '../../store/redis/keys.js';
import { IDLE_WORKFLOWS } from '../support/idle-workflows.js';
import { useRuns } from '../support/run-harness.js';
import { drive, textIn } from '../support/session-driver.js';
import { createTestAgent } from '../support/test-agent.js';
import { until } from '../support/until.js';

const { agent, executed } = createTestAgent();

const { runs, stores } = useRuns([agent]);

const listsOf = (sessionId: string) =>
  createKeySpace().due(runs.workflows.fleet, dueShardOf(sessionId));

async function whereListed(sessionId: string): Promise<DueList | undefined> {
  const lists = listsOf(sessionId);
  for (const list of ['urgent', 'routine'] as const) {
    if ((await stores.redis.zscore(lists[list], sessionId)) !== null) return list;
  }
  return undefined;
}

const charge = (id: string): string => JSON.stringify({ calls: [{ tool: 'charge', id }] });

function openReconcile(): () => Promise<void> {
  const { workflows, due } = runs;
  const { sessions } = stores.store;
  // The lease only paces the looks, so every look gets it here.
  const store = { sessions, due: { ...due, leaseWork: () => Promise.resolve(true) } };
  return createReconcile({ store, workflows, holder: 'test', logger: { warn: () => undefined } });
}

/** Waits: Temporal lists closed workflows late, and later if busy. */
function untilFoundAndClosed({ runId }: RunRecord): Promise<unknown> {
  return until('it is closed', async () => {
    await openReconcile()();
    return (await runs.workflows.state(runId).catch(() => undefined)) === 'closed';
  });
}

describe('a workflow that outlives its run', () => {
  it.each(['a message', 'a stop, then a message', 'a retry'])(
    'is ended although the signal of %s was lost',
    async (what) => {
      const id = runs.newSessionId();
      const run = await runs.begin(id, agent.name, charge(`${id}-c`));
      await runs.untilStatus(id, 'waiting_approval');
      const { workflows, executor } = runs;
      const signals = jest.spyOn(workflows, 'wake').mockRejectedValue(new Error('lost'));
      if (what === 'a retry') await executor.retry({ sessionId: id });
      else {
        if (what !== 'a message') await executor.stop(id, { mode: 'interrupt' });
        await runs.begin(id, agent.name, 'hello');
      }
      signals.mockRestore();
      const next = await stores.store.sessions.read(id);
      expect(next?.runId).not.toBe(run.runId);
      await untilFoundAndClosed(run);
      expect(await runs.result(run)).toMatchObject({ status: 'superseded' });
      // The sweep leaves the successor run alone.
      expect((await stores.store.sessions.read(id))?.status).not.toBe('interrupted');
      await executor.stop(id, { mode: 'abort' });
    },
  );

  it('is ended where the store has lost its conversation', async () => {
    const id = runs.newSessionId();
    const run = await runs.begin(id, agent.name, charge(`${id}-c`));
    await runs.untilStatus(id, 'waiting_approval');
    await stores.store.sessions.erase(id);
    await untilFoundAndClosed(run);
  });
});

describe('the search for what nobody looks at', () => {
  it('notes a silent run that is on no list', async () => {
    const id = runs.newSessionId();
    const run = await runs.begin(id, agent.name, JSON.stringify({ hang: true }));
    await runs.untilStatus(id, 'running');
    const lists = listsOf(id);
    await until('it is on none', async () => {
      await stores.redis.zrem(lists.urgent, id);
      await stores.redis.zrem(lists.routine, id);
      return (await whereListed(id)) === undefined;
    });
    await plantSilence(stores.redis, id, Date.now() - 61_000);
    await until('Temporal lists it', async () => {
      await openReconcile()();
      return (await whereListed(id)) === 'urgent';
    });
    await runs.executor.stop(run.sessionId, { mode: 'abort' });
  });

  /** Creates a look through the workflows that an engine lists. */
  function findAmong(
    workflows: Partial<Parameters<typeof createReconcile>[0]['workflows']>,
  ): () => Promise<void> {
    return createReconcile({
      store: { ...stores.store, due: { ...runs.due, leaseWork: () => Promise.resolve(true) } },
      workflows: { ...IDLE_WORKFLOWS, ...workflows },
      holder: 'test',
      logger: { warn: () => undefined },
    });
  }

  it('goes on from the newest one that was found, by the clock of Temporal', async () => {
    const asked: number[] = [];
    const [ahead, closedAt] = [150_000, Date.now()];
    const clock = jest.spyOn(Date, 'now').mockReturnValue(closedAt + ahead);
    const find = findAmong({
      closedSince: (since) => {
        asked.push(since);
        return Promise.resolve([{ runId: `${runs.newSessionId()}:1-x`, closedAt }]);
      },
    });
    for (let times = 0; times < 2; times += 1) await find();
    clock.mockRestore();
    expect(asked[0]).toBeLessThan(closedAt);
    expect(asked[1]).toBe(closedAt - 60_000);
  });

  it('goes back an hour at most, and looks through what is open also where Temporal lists nothing', async () => {
    const asked: number[] = [];
    let pages = 0;
    const find = findAmong({
      closedSince: (since) => {
        asked.push(since);
        if (asked.length === 2) return Promise.reject(new Error('too many'));
        return Promise.resolve([{ runId: `${runs.newSessionId()}:1-x`, closedAt: 1 }]);
      },
      openPage: () => {
        pages += 1;
        return Promise.resolve({ runIds: [], next: new Uint8Array() });
      },
    });
    const begun = Date.now();
    await find();
    await expect(find()).rejects.toThrow('too many');
    expect(asked[1]).toBeGreaterThanOrEqual(begun - 3_600_000);
    expect(pages).toBe(2);
  });
});

describe('the sweep', () => {
  it('the sweep starts a run that was made and never started', async () => {
    const session = drive(stores);
    const { runId } = await session.newRun();
    await runs.sweep(session.id);
    await runs.untilStatus(session.id, 'completed');
    await until('it completes', async () => (await runs.workflows.look(runId)).hasCompleted);
  });

  it('the sweep ends a run whose workflow was terminated; the partial reply stays, the session answers', async () => {
    const id = runs.newSessionId();
    const run = await runs.begin(id, agent.name, JSON.stringify({ hang: true }));
    await until(
      'it speaks',
      async () => textIn(await stores.streamManager.read(id, 0, 9)) === 'And',
    );
    await runs.client.workflow.getHandle(workflowIdOf(run.runId)).terminate('by an operator');
    // Otherwise the sweeper would look for the attempt's worker until Temporal forgets the workflow.
    expect(await runs.workflows.look(run.runId)).toMatchObject({ state: 'closed', started: [] });
    await runs.sweep(id);
    expect(await stores.store.sessions.read(id)).toMatchObject({
      status: 'failed',
      error: { code: 'framework_run_lost' },
    });
    expect(await stores.store.sessions.rows(id, 1)).toMatchObject([
      { interrupted: 'failure', parts: [{ text: 'And' }] },
    ]);
    const next = await runs.begin(id, agent.name, 'hello?');
    expect(await runs.result(next)).toMatchObject({ status: 'completed' });
  });

  it('the sweep notes a waiting run whose workflow was terminated, by a query for such, and ends it', async () => {
    const id = runs.newSessionId();
    const run = await runs.begin(id, agent.name, charge(`${id}-c`));
    await runs.untilStatus(id, 'waiting_approval');
    await runs.sweep(id);
    expect(await whereListed(id)).toBe('routine');
    await runs.client.workflow.getHandle(workflowIdOf(run.runId)).terminate();
    const reconcile = openReconcile();
    await until('it is found', async () => {
      await reconcile();
      return (await whereListed(id)) === 'urgent';
    });
    await runs.sweepDue();
    expect(await stores.store.sessions.read(id)).toMatchObject({ status: 'failed' });
    expect(await runs.decide(run, `${id}-c`, true)).toBe('already_completed');
  });

  it('the sweep carries out a stop that no writer confirmed, and whose request died', async () => {
    const id = runs.newSessionId();
    await runs.begin(id, agent.name, JSON.stringify({ hang: true }));
    await until(
      'it speaks',
      async () => textIn(await stores.streamManager.read(id, 0, 9)) === 'And',
    );
    // Redis has the stop, but its writer hears nothing of it.
    await plant(stores.redis, id, (record) => {
      record.run.stop = { mode: 'abort' };
      record.updated = Date.now() - 3_000;
    });
    await runs.sweep(id);
    expect(await stores.store.sessions.read(id)).toMatchObject({ status: 'aborted' });
  });

  it('the sweep gives a run an answer whose signal was lost', async () => {
    const id = runs.newSessionId();
    const run = await runs.begin(id, agent.name, charge(`${id}-c`));
    await runs.untilStatus(id, 'waiting_approval');
    // The API stored this and died before it could signal the workflow.
    expect(await drive(stores, id).decide(run.runId, `${id}-c`, true)).toMatchObject({
      kind: 'stored',
    });
    await runs.sweepUntil(id, 'the sweep wakes it', ({ status }) => status === 'completed');
    expect(executed.filter((call) => call.startsWith(id))).toEqual([`${id}-c`]);
  });
});
