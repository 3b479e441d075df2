import { createActivities } from '../../activities/index.js';
import { AgentRegistry } from '../../agents/index.js';
import { drive } from '../support/session-driver.js';
import { openTestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';
import { createAsker } from './asker.js';

describe('the activities of answers', () => {
  it('the activities of answers accept, refuse with a code, and report the same end twice', async () => {
    const stores = await openTestStores();
    const { agent } = createAsker();
    const quiet = { info: () => undefined, warn: () => undefined };
    const { answerCall, extendDeadline, expireCalls } = createActivities({
      ...stores,
      agents: new AgentRegistry([agent]),
      services: {},
      startNext: () => Promise.resolve(),
      logger: quiet,
    });
    const session = drive(stores);
    const { runId } = await session.newRun();
    const call = { toolName: 'hurry', kind: 'client' as const, input: {} };
    await session.ask(runId, 1, [
      { ...call, toolCallId: 'c', deadlineMs: 60_000 },
      { ...call, toolCallId: 'd', deadlineMs: 1, onExpiry: { result: 'no one' } },
    ]);
    const ref = { sessionId: session.id, runId, agent: agent.name };
    expect(await answerCall({ ...ref, answer: { toolCallId: 'c', approved: true } })).toEqual({
      kind: 'refused',
      code: 'kind_mismatch',
    });
    expect(await extendDeadline({ ...ref, toolCallId: 'x', byMs: 1 })).toMatchObject({
      code: 'not_pending',
    });
    expect(await extendDeadline({ ...ref, toolCallId: 'c', byMs: 1_000 })).toMatchObject({
      kind: 'extended',
    });
    const due = await until('it is due', async () => {
      const outcome = await expireCalls({ ...ref, step: 1 });
      const { d } = await stores.store.calls.pending(session.id);
      return d?.response === undefined ? undefined : outcome;
    });
    expect(due.resume).toBeUndefined();
    expect(due.nextDueMs).toBeGreaterThan(30_000);
    expect(await stores.store.calls.read(session.id, 'd')).toMatchObject({
      row: { output: 'no one' },
    });
    expect(
      await answerCall({ ...ref, answer: { toolCallId: 'c', result: 7, by: 'ops' } }),
    ).toMatchObject({
      kind: 'stored',
      runId,
      resume: { step: 1, approved: [] },
    });
    // A workflow that has missed the end of the batch gets it again.
    expect(await expireCalls({ ...ref, step: 1 })).toMatchObject({ resume: { step: 1 } });
    expect(await expireCalls({ ...ref, runId: 'other', step: 1 })).toEqual({});
  });
});
