import { plantSilence } from '../support/stored-record.js';
import { LIMITS } from '../../protocol/limits.js';
import { toStoredSessionId } from '../../store/record/stored-session-id.js';
import { createRunHarness, type RunHarness } from '../support/run-harness.js';
import { createTestAgent } from '../support/test-agent.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';
import { snapshotOf } from '../support/snapshot-of.js';

const { agent } = createTestAgent();
let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});

/** Begins a run on a queue without workers. */
async function beginAlone(): Promise<[runs: RunHarness, sessionId: string]> {
  const runs = await createRunHarness(stores, [agent]);
  const sessionId = toStoredSessionId(runs.newSessionId(), 'acme');
  await runs.begin(sessionId, agent.name, 'is anybody there?');
  return [runs, sessionId];
}

/** Backdates the run's last write beyond the limit. */
async function letStall(sessionId: string): Promise<void> {
  await plantSilence(stores.redis, sessionId, Date.now() - LIMITS.stalledMs - 1);
}

describe('while no worker is there', () => {
  it('a message is accepted and shown; it is answered when a worker comes', async () => {
    const [runs, sessionId] = await beginAlone();
    expect(await snapshotOf(stores, sessionId)).toMatchObject({
      status: 'active',
      run: { status: 'starting' },
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'is anybody there?' }] }],
    });
    await letStall(sessionId);
    expect((await snapshotOf(stores, sessionId))?.run).toMatchObject({ stalled: true });

    await runs.startWorker();
    await runs.untilStatus(sessionId, 'completed');
    const answered = await snapshotOf(stores, sessionId);
    expect(answered).toMatchObject({ status: 'ended', run: { status: 'completed' } });
    expect(answered?.run).not.toHaveProperty('stalled');
    expect(JSON.stringify(answered?.messages[1])).toContain('You said is anybody there?');
  });

  it('what has stalled is stopped at once, and the next message is accepted', async () => {
    const [runs, sessionId] = await beginAlone();
    await letStall(sessionId);
    expect(await runs.executor.stop(sessionId, { mode: 'interrupt' })).toMatchObject({
      kind: 'ended',
    });
    expect(await snapshotOf(stores, sessionId)).toMatchObject({
      status: 'ended',
      run: { status: 'interrupted' },
    });
    expect(await runs.begin(sessionId, agent.name, 'still no one?')).toMatchObject({ turn: 2 });
    await runs.executor.stop(sessionId, { mode: 'abort' });
  });
});
