import { createActivities } from '../../activities/index.js';
import { AgentRegistry } from '../../agents/index.js';
import type { LookRef } from '../../protocol/activities.js';
import type { Next, OpenCalls } from '../../protocol/run.js';
import { childAt, grow, heldCall } from '../../store/conformance/tree.js';
import { drive, newCall } from '../support/session-driver.js';
import { openTestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';
import { createAsker } from './asker.js';

const quiet = { info: () => undefined, warn: () => undefined };

describe('the activities of answers', () => {
  const approval = { toolName: 'charge', kind: 'approval' as const, input: { amount: 1 } };
  const client = { toolName: 'hurry', kind: 'client' as const, input: {} };

  it.each([
    { call: approval, answer: { approved: true }, other: { approved: false } },
    { call: approval, answer: { approved: false, reason: 'no' }, other: { approved: true } },
    { call: client, answer: { result: { a: [1], b: 2 } }, other: { result: { a: [1], b: 3 } } },
    { call: client, answer: { error: 'broken' }, other: { result: 'broken' } },
  ])(
    'report $answer as stored also where only the reply to it was lost',
    async ({ call, answer, other }) => {
      const stores = await openTestStores();
      const { agent } = createAsker();
      const { answerCall } = createActivities({
        ...stores,
        agents: new AgentRegistry([agent]),
        services: {},
        startNext: () => Promise.resolve(),
        logger: quiet,
      });
      const session = drive(stores);
      const { runId } = await session.asked({ ...call, toolCallId: 'c' });
      const ref = { sessionId: session.id, runId, agent: agent.name, at: Date.now() };
      const given = { toolCallId: 'c', by: 'ops', ...answer };
      const first = await answerCall({ ...ref, answer: given });
      expect(first).toMatchObject({ kind: 'stored', runId });
      expect(await answerCall({ ...ref, answer: given })).toEqual(first);
      const refused = { kind: 'refused', code: 'already_completed' };
      const another = { toolCallId: 'c', by: 'ops', ...other };
      expect(await answerCall({ ...ref, answer: another, at: ref.at + 1 })).toEqual(refused);
      if (call === client) return;
      expect(await answerCall({ ...ref, answer: given, at: ref.at + 1 })).toEqual(refused);
    },
  );

  it('the activities of answers accept, refuse with a code, and report the same end twice', async () => {
    const stores = await openTestStores();
    const { agent } = createAsker();
    const { answerCall, extendDeadline, look } = createActivities({
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
    const known = { version: 0, sequence: 0 };
    const next = async (of: Partial<LookRef> = {}): Promise<Next> =>
      (await look({ ...ref, known, ...of })).at.next;
    const due = await until('it is due', async () => {
      const found = await next();
      const { d } = await stores.store.calls.pending(session.id);
      return d?.response === undefined ? undefined : found;
    });
    expect(due).toMatchObject({ do: 'open', people: ['c'], calls: [{ toolCallId: 'c' }] });
    expect((due as OpenCalls).dueInMs).toBeGreaterThan(30_000);
    expect(await stores.store.calls.read(session.id, 'd')).toMatchObject({
      row: { output: 'no one' },
    });
    expect(
      await answerCall({ ...ref, answer: { toolCallId: 'c', result: 7, by: 'ops' } }),
    ).toMatchObject({
      kind: 'stored',
      runId,
      at: { next: { do: 'model', step: 2 } },
    });
    // A workflow that missed the end of the batch gets the same reply.
    expect(await next()).toMatchObject({ do: 'model', step: 2 });
    expect(await next({ runId: 'other' })).toMatchObject({ do: 'done', status: 'superseded' });
    // A record that is behind its run's knowledge was restored from an older copy.
    for (const ahead of [{ version: 1e6 }, { sequence: 1e6 }]) {
      const { runId: another } = await session.newRun().catch(() => ({ runId }));
      const lost = await next({ runId: another, known: { ...known, ...ahead } });
      expect(lost).toMatchObject({ do: 'done', error: { code: 'state_lost' } });
    }
    // An erased conversation counts as superseded, not as lost.
    const { runId: erased } = await session.newRun('u9');
    await stores.store.sessions.erase(session.id);
    const gone = await next({ runId: erased, known: { version: 1e6, sequence: 1e6 } });
    expect(gone).toEqual({ do: 'done', step: 0, status: 'superseded' });
  });

  it('a look settles the overdue calls of its run, and leaves those of sub-agents to theirs', async () => {
    const stores = await openTestStores();
    const { agent } = createAsker();
    const { look } = createActivities({
      ...stores,
      agents: new AgentRegistry([agent]),
      services: {},
      startNext: () => Promise.resolve(),
      logger: quiet,
    });
    const overdue = { deadlineMs: 1, onExpiry: { result: 'no one' } };
    const setup = { ...stores, session: drive(stores) } as unknown as Parameters<typeof grow>[0];
    const tree = await grow(setup, 1, (runId) => [heldCall(runId, 'c', 'client', overdue)]);
    const { driver, ref: child } = childAt(tree, 0);
    await driver.ask(child.runId, 1, [heldCall(child.runId, 'q', 'client', overdue)]);
    const { root, runId } = tree;
    const stateOf = async (id: string) => (await stores.store.calls.read(root.id, id))?.state;
    const ref = { sessionId: root.id, runId, agent: agent.name };
    await until('the question has expired', async () => {
      await look({ ...ref, known: { version: 0, sequence: 0 } });
      return (await stateOf('c')) === 'settled';
    });
    expect(await stateOf('q')).toBe('waiting');
  });

  it('the last question that expires wakes the sub-agents whose own were answered', async () => {
    const stores = await openTestStores();
    const { agent } = createAsker();
    const woken: string[] = [];
    const { look } = createActivities({
      ...stores,
      agents: new AgentRegistry([agent]),
      services: {},
      startNext: () => Promise.resolve(),
      wake: ({ runId }) => Promise.resolve(void woken.push(runId)),
      logger: quiet,
    });
    const setup = { ...stores, session: drive(stores) } as unknown as Parameters<typeof grow>[0];
    const tree = await grow(setup, 1, (runId) => [
      heldCall(runId, 'c', 'client', { deadlineMs: 1, onExpiry: { result: 'no one' } }),
    ]);
    const { driver, ref: child } = childAt(tree, 0);
    await driver.ask(child.runId, 1, [newCall('q', 'approval')]);
    await driver.decide(child.runId, 'q', true);
    const { root, runId } = tree;
    const ref = { sessionId: root.id, runId, agent: agent.name };
    await until('the question has expired', async () => {
      await look({ ...ref, known: { version: 0, sequence: 0 } });
      return (await stores.store.calls.read(root.id, 'c'))?.state === 'settled';
    });
    expect(woken).toEqual([child.runId]);
  });
});
