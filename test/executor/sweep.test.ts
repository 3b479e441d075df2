import { beforeAll, describe, expect, it } from '@jest/globals';
import { createSweep } from '../../executor/index.js';
import { workflowIdOf } from '../../protocol/ids.js';
import { createRunHarness, type RunHarness } from '../support/run-harness.js';
import { drive, newNonce, textIn, userMessage } from '../support/session-driver.js';
import { createTestAgent } from '../support/test-agent.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';

let stores: TestStores;
let runs: RunHarness;
const { agent, executed } = createTestAgent();

beforeAll(async () => {
  stores = await openTestStores();
  runs = await createRunHarness(stores, [agent]);
  await runs.startWorker();
});

const charge = (id: string): string => JSON.stringify({ calls: [{ tool: 'charge', id }] });

describe('the sweep', () => {
  it('starts a run that was made and never started', async () => {
    const session = drive(stores);
    const { runId } = await session.newRun();
    await runs.sweep(session.id);
    await runs.untilStatus(session.id, 'completed');
    await until('the workflow ends', async () => (await runs.workflows.state(runId)) === 'closed');
  });

  it('ends a run whose workflow was terminated; what was said stays, the session answers', async () => {
    const id = runs.newSessionId();
    const run = await runs.begin(id, agent.name, JSON.stringify({ hang: true }));
    await until(
      'it speaks',
      async () => textIn(await stores.streamManager.read(id, 0, 9)) === 'And',
    );
    await runs.client.workflow.getHandle(workflowIdOf(run.runId)).terminate('by an operator');
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

  it('ends a waiting run whose workflow was terminated', async () => {
    const id = runs.newSessionId();
    const run = await runs.begin(id, agent.name, charge(`${id}-c`));
    await runs.untilStatus(id, 'waiting_approval');
    await runs.client.workflow.getHandle(workflowIdOf(run.runId)).terminate();
    await runs.sweep(id);
    expect(await stores.store.sessions.read(id)).toMatchObject({ status: 'failed' });
    expect(await runs.decide(run, `${id}-c`, true)).toBe('already_completed');
  });

  it('ends a run whose workflow was terminated before it did anything', async () => {
    // No worker on this queue: the run stays at its start.
    const idle = await createRunHarness(stores, [agent]);
    const id = idle.newSessionId();
    const run = await idle.begin(id, agent.name, 'hello');
    await idle.client.workflow.getHandle(workflowIdOf(run.runId)).terminate();
    await idle.sweep(id);
    expect(await stores.store.sessions.read(id)).toMatchObject({ status: 'failed' });
  });

  it('leaves a run alone that waits for a person, and one that waits for a worker', async () => {
    const idle = await createRunHarness(stores, [agent]);
    const starting = idle.newSessionId();
    await idle.begin(starting, agent.name, 'hello');
    const waiting = runs.newSessionId();
    await runs.begin(waiting, agent.name, charge(`${waiting}-c`));
    await runs.untilStatus(waiting, 'waiting_approval');
    const [before, log] = [
      await stores.store.sessions.read(waiting),
      await drive(stores, waiting).log(),
    ];
    await runs.sweep(waiting);
    await idle.sweep(starting);
    expect(await stores.store.sessions.read(waiting)).toEqual(before);
    expect(await drive(stores, waiting).log()).toEqual(log);
    expect(await stores.store.sessions.read(starting)).toMatchObject({ status: 'starting' });
    await runs.executor.stop(waiting, { mode: 'abort' });
    await idle.executor.stop(starting, { mode: 'abort' });
  });

  it('puts a waiting run back on the list of those that wait, and an ended one off', async () => {
    const id = runs.newSessionId();
    await runs.begin(id, agent.name, charge(`${id}-c`));
    await runs.untilStatus(id, 'waiting_approval');
    const { owner = '', tenant = '' } = (await stores.store.sessions.read(id)) ?? {};
    const isListed = async (cursor?: string): Promise<boolean> => {
      const page = { limit: 100, ...(cursor !== undefined && { cursor }) };
      const found = await stores.store.waiting.page({ owner, tenant }, page);
      if (found.sessions.some(({ record }) => record.sessionId === id)) return true;
      return found.cursor !== undefined && isListed(found.cursor);
    };
    expect(await isListed()).toBe(true);
    await stores.store.waiting.forget(id);
    expect(await isListed()).toBe(false);
    await runs.sweep(id);
    expect(await isListed()).toBe(true);
    await runs.executor.stop(id, { mode: 'abort' });
    await runs.sweep(id);
    expect(await isListed()).toBe(false);
  });

  it('gives a run an answer whose signal was lost', async () => {
    const id = runs.newSessionId();
    const run = await runs.begin(id, agent.name, charge(`${id}-c`));
    await runs.untilStatus(id, 'waiting_approval');
    // Stored, as the API would, by a process that died before it could signal.
    expect(await drive(stores, id).decide(run.runId, `${id}-c`, true)).toMatchObject({
      kind: 'stored',
    });
    await until('the sweep wakes it', async () => {
      await runs.sweep(id);
      return (await stores.store.sessions.read(id))?.status === 'completed';
    });
    expect(executed.filter((call) => call.startsWith(id))).toEqual([`${id}-c`]);
  });

  it('ends the workflow of a run whose stop was lost', async () => {
    const id = runs.newSessionId();
    const { runId } = await runs.begin(id, agent.name, charge(`${id}-c`));
    await runs.untilStatus(id, 'waiting_approval');
    // Stored, as the API would, by a process that died before it could signal.
    await stores.store.runs.stop(id, { mode: 'interrupt' });
    expect(await runs.workflows.state(runId)).toBe('running');
    await runs.sweep(id);
    await until('the workflow ends', async () => (await runs.workflows.state(runId)) === 'closed');
    await runs.sweep(id);
    expect(await stores.redis.zscore('hx:active', id)).toBeNull();
  });

  it('does not lose sight of a run that begins while the one before is forgotten', async () => {
    const session = drive(stores);
    const { runId } = await session.newRun();
    await session.ask(runId, 1, []);
    const store = {
      ...stores.store,
      due: {
        ...stores.store.due,
        leaseSweep: () => Promise.resolve(true),
        take: () => Promise.resolve([{ sessionId: session.id, takenUntil: 0 }]),
        // The next message comes just before the session is taken off the list.
        forget: async (sessionId: string) => {
          await stores.store.due.note(sessionId, 3_000);
          await session.begin({ messages: [userMessage('next')], nonce: newNonce() });
          await stores.store.due.forget(sessionId);
        },
      },
    };
    const { executor } = runs;
    const logger = { warn: () => undefined };
    await createSweep({ store, executor, holder: 'x', logger })();
    expect(await stores.redis.zscore('hx:active', session.id)).not.toBeNull();
    await stores.store.runs.stop(session.id, { mode: 'abort' });
  });

  it('forgets sessions that rest', async () => {
    const session = drive(stores);
    const { runId } = await session.newRun();
    await stores.store.due.note(session.id, 0);
    await session.ask(runId, 1, []);
    await runs.sweep(session.id);
    expect(await stores.redis.zscore('hx:active', session.id)).toBeNull();
  });
});

describe('the list of sessions to look at', () => {
  it('gives what is due, oldest first, and not again before its time', async () => {
    const ids = [drive(stores).id, drive(stores).id, drive(stores).id] as const;
    await stores.store.due.note(ids[0], -1_000_000);
    await stores.store.due.note(ids[1], -2_000_000);
    await stores.store.due.note(ids[2], 60_000);
    const take = async (): Promise<string[]> =>
      (await stores.store.due.take(10_000, 60_000))
        .map(({ sessionId }) => sessionId)
        .filter((id) => (ids as readonly string[]).includes(id));
    expect(await take()).toEqual([ids[1], ids[0]]);
    expect(await take()).toEqual([]);
    for (const id of ids) await stores.store.due.forget(id);
  });
});
