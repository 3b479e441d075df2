import { afterWork } from '../../activities/after-work.js';
import { createActivities } from '../../activities/index.js';
import { AgentRegistry } from '../../agents/index.js';
import type { LookRef } from '../../protocol/temporal.js';
import type { Next, OpenCalls } from '../../protocol/run.js';
import { childAt, grow, heldCall } from '../../store/conformance/tree.js';
import { dueShardOf } from '../../store/contract/due.js';
import { drive, newCall } from '../support/session-driver.js';
import { openTestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';
import { createAsker } from './asker.js';

/** Opens the activities over a store of their own; notes the runs that they wake. */
async function open() {
  const stores = await openTestStores();
  const agent = createAsker();
  const woken: string[] = [];
  const activities = createActivities({
    ...stores,
    agents: new AgentRegistry([agent]),
    services: {},
    startNext: () => Promise.resolve(),
    wake: ({ runId }) => Promise.resolve(void woken.push(runId)),
    logger: { info: () => undefined, warn: () => undefined },
  });
  const session = drive(stores);
  const refOf = (runId: string) => ({ sessionId: session.id, runId, agent: agent.name });
  return { ...activities, stores, session, woken, refOf };
}

/** Opens them with a run that asks beside its sub-agent, until its own question expires. */
async function openTree() {
  const opened = await open();
  const { stores, session, look, refOf } = opened;
  const setup = { ...stores, session } as unknown as Parameters<typeof grow>[0];
  const overdue = { deadlineMs: 1, onExpiry: { result: 'no one' } };
  const tree = await grow(setup, 1, (runId) => [heldCall(runId, 'c', 'client', overdue)]);
  const stateOf = async (id: string) => (await stores.store.calls.read(session.id, id))?.state;
  const untilExpired = () =>
    until('the question has expired', async () => {
      await look({ ...refOf(tree.runId), known: { version: 0, sequence: 0 } });
      return (await stateOf('c')) === 'settled';
    });
  return { ...opened, ...childAt(tree, 0), overdue, stateOf, untilExpired };
}

it('a run that operators stop while it waits for its provider says so, since its step ends later', async () => {
  const { stopRun, stores, session } = await open();
  const { runId, writer } = await session.claimed();
  const stop = { mode: 'interrupt' } as const;
  const wait = { failure: 1, reason: 'provider_overloaded', waitMs: 60_000, now: 1 };
  await stores.store.steps.discard({ writer, ...wait });
  const due = () => stores.store.due.listed('urgent', dueShardOf(session.id), 0, 1_000);
  expect(await due()).not.toContain(session.id);
  expect(await stopRun({ sessionId: session.id, runId, stop })).toMatchObject({
    waited: true,
    at: { next: { do: 'done', status: 'interrupted' } },
  });
  // The sweeper looks after the run if this process dies before anything follows from the stop.
  expect(await due()).toContain(session.id);
});

it('a run whose record has lost its newest steps has not completed', async () => {
  const { endRun, session, refOf, stores } = await open();
  const { runId } = await session.claimed();
  const { sequence = 0 } = (await stores.store.sessions.read(session.id)) ?? {};
  const end = { ...refOf(runId), step: 1, status: 'completed', known: sequence + 1 } as const;
  const next = { do: 'done', status: 'failed', error: { code: 'state_lost' } };
  expect(await endRun(end)).toMatchObject({ at: { next } });
});

it('a run that has ended tells so, also once the next one has begun', async () => {
  const superseded = { do: 'done', step: 0, status: 'superseded' } as const;
  const read = { version: 2, sequence: 9, next: superseded };
  const ended = { kind: 'ended', step: 3, status: 'completed' } as const;
  expect(await afterWork(ended, () => Promise.resolve(read))).toEqual({
    ...read,
    next: { do: 'done', step: 3, status: 'completed' },
  });
});

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
      const { answerCall, session, refOf } = await open();
      const { runId } = await session.asked({ ...call, toolCallId: 'c' });
      const ref = { ...refOf(runId), at: Date.now() };
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
    const { answerCall, extendDeadline, look, stores, session, refOf } = await open();
    const { runId } = await session.newRun();
    const call = { toolName: 'hurry', kind: 'client' as const, input: {} };
    await session.ask(runId, 1, [
      { ...call, toolCallId: 'c', deadlineMs: 60_000 },
      { ...call, toolCallId: 'd', deadlineMs: 1, onExpiry: { result: 'no one' } },
    ]);
    const ref = refOf(runId);
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
    const { driver, ref, overdue, stateOf, untilExpired } = await openTree();
    await driver.ask(ref.runId, 1, [heldCall(ref.runId, 'q', 'client', overdue)]);
    await untilExpired();
    expect(await stateOf('q')).toBe('waiting');
  });

  it('the last question that expires wakes the sub-agents whose own were answered', async () => {
    const { driver, ref, woken, untilExpired } = await openTree();
    await driver.ask(ref.runId, 1, [newCall('q', 'approval')]);
    await driver.decide(ref.runId, 'q', true);
    await untilExpired();
    expect(woken).toEqual([ref.runId]);
  });
});
