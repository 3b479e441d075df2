import {
  buildPastSnapshot,
  buildSnapshot,
  handleChatStream,
  type Caller,
} from '../../../ai-sdk/index.js';
import { noteSnapshot, toCallDecisions } from '../../../ai-sdk/reply/build-snapshot.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { createGatedAgent } from '../../support/gated-agent.js';
import { drive, newCall } from '../../support/session-driver.js';
import { until } from '../../support/until.js';
import { ask, createAsking, runtimeOf, startAsking, user } from './ask.js';
import { snapshotOf } from '../../support/snapshot-of.js';

describe('buildSnapshot', () => {
  it('buildSnapshot returns null for unknown sessions and for strangers', async () => {
    const runtime = await startAsking();
    expect(await snapshotOf(runtime, 'other')).toBeNull();
    for (const caller of [{ userId: 'stranger' }, { userId: 'anonymous', tenantId: 't' }]) {
      expect(await buildSnapshot(runtime, { sessionId: 's1', caller })).toBeNull();
    }
    expect(await snapshotOf(runtime, 's1')).not.toBeNull();
  });

  it('buildSnapshot without a caller shows the conversations of nobody by name, and no others', async () => {
    const runtime = await startAsking();
    const own = { ...runtime, defaultAgent: 'lab' };
    const theirs = { sessionId: 's2', messages: [user('u1')], userId: 'ann' };
    await (await handleChatStream(own, theirs)).text();
    const ofTenant = { ...theirs, sessionId: 's3', userId: undefined, tenantId: 't' };
    await (await handleChatStream(own, ofTenant)).text();
    expect(await buildSnapshot(runtime, { sessionId: 's1' })).toEqual(
      await snapshotOf(runtime, 's1').then((found) => ({
        ...found,
        timestamp: expect.any(Number),
      })),
    );
    for (const sessionId of ['s2', 's3']) {
      expect(await buildSnapshot(runtime, { sessionId })).toBeNull();
      const past = { sessionId, checkpointId: `cpv1-${sessionId}-s1-1` };
      expect(await buildPastSnapshot(runtime, past)).toBeNull();
    }
    expect(
      await buildSnapshot(runtime, { sessionId: 's2', caller: { userId: 'ann' } }),
    ).not.toBeNull();
  });

  it('buildSnapshot returns null for a caller without a name, which JavaScript hosts may send', async () => {
    const runtime = await startAsking();
    const unnamed = [null, {}, { userId: '' }, { userId: undefined }] as unknown as Caller[];
    for (const caller of unnamed) {
      expect(await buildSnapshot(runtime, { sessionId: 's1', caller })).toBeNull();
      const past = { sessionId: 's1', checkpointId: 'cpv1-s1-s1-1', caller };
      expect(await buildPastSnapshot(runtime, past)).toBeNull();
    }
  });

  it("buildSnapshot reads nothing of other people's sessions", async () => {
    const runtime = await startAsking();
    const { stateStore } = runtime;
    const read = { ...stateStore.sessions, view: () => Promise.reject(new Error('it was read')) };
    const deps = { ...runtime, stateStore: { ...stateStore, sessions: read } };
    const caller = { userId: 'stranger' };
    expect(await buildSnapshot(deps, { sessionId: 's1', caller })).toBeNull();
    const past = { sessionId: 's1', checkpointId: 'cpv1-s1-s1-1', caller };
    expect(await buildPastSnapshot(deps, past)).toBeNull();
    await expect(snapshotOf(deps, 's1')).rejects.toThrow('it was read');
  });

  it('buildSnapshot includes the partial reply of an active run on request', async () => {
    const gated = createGatedAgent(undefined, 'lab');
    const deps = { ...runtimeOf(gated.agent), defaultAgent: 'lab' };
    const off = { ...deps, contentReplayEnabled: false };
    const messages = [user('u1', 'speak on')];
    const running = await handleChatStream(deps, { sessionId: 's1', messages });
    await gated.reached('on');
    await until('the run speaks', async () => (await snapshotOf(off, 's1'))?.messages.length === 2);
    const copied = jest.spyOn(globalThis, 'structuredClone');
    const snapshot = await snapshotOf(deps, 's1', { includePartialContent: true });
    // A copy of the message for each of its parts would take minutes for long turns.
    expect(copied).not.toHaveBeenCalled();
    expect(snapshot?.messages.at(-1)).toMatchObject({
      id: 'msg-1',
      parts: [{ type: 'step-start' }, { type: 'text', text: 'Once upon', state: 'streaming' }],
    });
    // The same for hosts that do not replay turns.
    const { messages: shown, streamSequence } = snapshot ?? {};
    expect(await snapshotOf(off, 's1')).toMatchObject({ messages: shown, streamSequence });
    // What follows its position, and nothing of what such a page has.
    const headers = new Headers({ 'x-resume-from-sequence': String(streamSequence) });
    const request = { method: 'GET', headers };
    const rest = await handleChatStream(off, { sessionId: 's1', messages: [], request });
    gated.open('on');
    const text = await rest.text();
    expect(text).toContain(' a time');
    expect(text).not.toContain('Once');
    await running.body?.cancel();
  });

  it('buildSnapshot leaves out hidden messages', async () => {
    const runtime = createAsking();
    await ask(runtime, [{ ...user('h1'), metadata: { hidden: true } }, user('u1')]);
    const snapshot = await snapshotOf(runtime, 's1');
    expect(snapshot?.messages.map(({ id }) => id)).toEqual(['u1', 'msg-1']);
  });

  it("buildSnapshot applies the agent's own patches to its state, and none of sub-agents", async () => {
    const stores = createMemoryStores();
    const session = drive(stores);
    const { runId } = await session.newRun({ state: { n: 1 } });
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    const base = { type: 'state_patch', agentType: 'tester', step: 1, timestamp: 1 } as const;
    const patch = (agentId: string, value: number) => ({
      ...{ ...base, agentId },
      patches: [{ op: 'replace' as const, path: '/n', value }],
    });
    const chunks = [patch(session.id, 2), patch(`${session.id}.1-a`, 9)];
    await stores.streamManager.append(writer, 1, chunks, 0);
    const deps = { ...stores, stateStore: stores.store };
    const snapshot = await snapshotOf(deps, session.id, { includePartialContent: true });
    expect(snapshot).toMatchObject({ status: 'active', state: { n: 2 } });
  });

  it('buildSnapshot is of one moment, even if the run continues while the state is read', async () => {
    const stores = createMemoryStores();
    const session = drive(stores);
    const begun = await session.newRun({ state: { n: 1 } });
    const { runId } = begun;
    await session.ask(runId, 1, [newCall('c1', 'client')]);
    let answered: Promise<unknown> | undefined;
    const stateStore = {
      ...stores.store,
      documents: {
        ...stores.store.documents,
        readState: async (sessionId: string, at?: 'now' | 'turn') => {
          await (answered ??= session.answer(runId, 'c1', { output: 1 }));
          return stores.store.documents.readState(sessionId, at);
        },
      },
    };
    const { streamManager } = stores;
    const snapshot = await snapshotOf({ stateStore, streamManager }, session.id);
    expect(snapshot).toMatchObject({ status: 'active', state: { n: 1 }, pending: [] });
  });
});

it('a snapshot says who decided about each call, also in turns that are over', async () => {
  const stores = createMemoryStores();
  const session = drive(stores);
  const decisions = async (): Promise<unknown> => {
    const deps = { ...stores, stateStore: stores.store };
    const caller = { userId: 'ann' };
    return (await buildSnapshot(deps, { sessionId: session.id, caller }))?.decisions;
  };
  const { runId } = await session.asked(newCall('c1', 'approval'), newCall('c2', 'approval'));
  expect(await decisions()).toBeUndefined();
  await session.decide(runId, 'c1', false);
  const [denied] = [{ toolCallId: 'c1', approved: false, at: expect.any(Number) }];
  expect(await decisions()).toMatchObject([denied]);
  await session.decide(runId, 'c2', true);
  await session.carryOut(runId, 1, 'c2', 'paid');
  const both = [denied, { toolCallId: 'c2', approved: true, at: expect.any(Number) }];
  expect(await decisions()).toMatchObject(both);
  const next = session.writer(runId, 2, 2);
  await session.claim(next);
  await session.commit(next);
  const { runId: later } = await session.newRun();
  await session.ask(later, 1, [newCall('c3', 'approval')]);
  expect(await decisions()).toMatchObject([denied]);
});

it('a decision that is stored with the result counts before the one that was noted of the call', () => {
  const decided = (by: string) => ({ approved: true, by, at: 1 });
  const row = { role: 'tool', toolCallId: 'c1', decision: decided('ann') };
  const open = { spec: { toolCallId: 'c1' }, row, decision: decided('bob') };
  expect(toCallDecisions([open as never])).toMatchObject({ decisions: [{ by: 'ann' }] });
});

it.each([
  ['active', undefined, [true]],
  ['ended', 3, [false]],
  ['ended', 2, []],
])('a snapshot of an %s turn 3 after one of turn %s is noted: %j', async (stream, seen, noted) => {
  const marks: unknown[] = [];
  const note = (_id: string, _turn: number, isActive: boolean) =>
    Promise.resolve(void marks.push(isActive));
  const record = { sessionId: 's', stream, turn: 3, activeSnapshotTurn: seen };
  await noteSnapshot({ sessions: { noteSnapshot: note } } as never, record as never);
  expect(marks).toEqual(noted);
});
