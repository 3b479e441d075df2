import {
  readEvents,
  readRunDetail,
  readStep,
  toOperatorRun,
} from '../../../extensions/console/run-detail.js';
import { listRuns, type RunFilter, type RunPage } from '../../../extensions/console/run-list.js';
import type { RouteDeps } from '../../../api/deps.js';
import type { NewCall } from '../../../store/contract/call-record.js';
import { playTurn, takeStep } from '../../../store/conformance/session/played-turns.js';
import { newSubAgent } from '../../../store/conformance/tree.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { createIdleRuns } from '../../support/idle-workflows.js';
import { drive, newCall, newSessionId, userMessage } from '../../support/session-driver.js';

/** Plays two turns: the first has an approved call, the second a waiting one. */
async function twoTurns() {
  const stores = createMemoryStores();
  const session = drive(stores, newSessionId());
  const ask = async (runId: string, call: NewCall): Promise<void> => {
    const { id } = session;
    const writer = session.writer(runId, 1, 1);
    const asks = { toolCallId: call.toolCallId, toolName: call.toolName, input: {} };
    const base = { agentId: id, agentType: 'tester', step: 1, timestamp: Date.now() };
    await session.claim(writer);
    await stores.streamManager.append(writer, 1, [{ type: 'step_start', ...base }]);
    await session.commit(writer, {
      calls: [call],
      chunks: [
        { type: 'step_end', ...base },
        { type: 'tool_approval_request', approvalId: `${runId}::x`, ...asks, ...base },
      ],
    });
  };
  const first = await session.newRun('u1');
  await ask(first.runId, newCall('c1', 'approval'));
  await session.decide(first.runId, 'c1', true);
  await session.start(first.runId, 1, 'c1');
  await session.finishCall(first.runId, 1, 'c1', { charged: 5 });
  await session.end(first.runId, 'completed');
  const second = await session.newRun('u2');
  await ask(second.runId, newCall('c2', 'approval'));
  const { streamManager } = stores;
  return { deps: { stateStore: stores.store, streamManager }, session, first, second };
}

describe('readStep', () => {
  it('a step has the inputs and outputs of its calls', async () => {
    const { deps, session, first, second } = await twoTurns();
    const step = await readStep(deps, first.runId, 1);
    expect(step?.calls).toEqual([
      expect.objectContaining({ toolCallId: 'c1', output: { charged: 5 } }),
    ]);
    const open = await readStep(deps, second.runId, 1);
    expect(open?.calls[0]).not.toHaveProperty('output');
    for (const [runId, step] of [
      [first.runId, 2],
      [`${session.id}:9-x`, 1],
      ['unknown:1-x', 1],
    ] as const) {
      expect(await readStep(deps, runId, step)).toBeUndefined();
    }
  });

  it('a step was asked by the messages of its own turn', async () => {
    const { deps, first, second } = await twoTurns();
    expect((await readStep(deps, first.runId, 1))?.prompt).toBe('hello from u1');
    expect((await readStep(deps, second.runId, 1))?.prompt).toBe('hello from u2');
  });
});

it("a run's events are those of its turn, page by page", async () => {
  const { deps, session, first, second } = await twoTurns();
  const record = await deps.stateStore.sessions.read(session.id);
  if (record === undefined) throw new Error('no record');
  const read = async (runId: string, after = 0, limit = 100) => {
    const page = await readEvents(deps, record, runId, { after, limit });
    return { sequences: page?.events.map(({ sequence }) => sequence) ?? [], next: page?.next };
  };
  const [one, two] = [await read(first.runId), await read(second.runId)];
  expect([one.next, two.next]).toEqual([undefined, undefined]);
  expect(one.sequences.length).toBeGreaterThan(1);
  expect(one.sequences.at(-1)).toBeLessThan(two.sequences[0] ?? 0);
  const [start = 0, ...others] = one.sequences;
  expect(await read(first.runId, 0, 1)).toEqual({ sequences: [start], next: start });
  expect((await read(first.runId, start)).sequences).toEqual(others);
  expect(await readEvents(deps, record, `${session.id}:9-x`, { after: 0, limit: 1 })).toBe(
    undefined,
  );
});

it('a run that was steered has its steps from before that, too', async () => {
  const stores = createMemoryStores();
  const session = drive(stores, newSessionId());
  await playTurn(session, 'u1');
  const run = await session.newRun('u2');
  await takeStep(session, run, 1);
  await session.steer('u3');
  const record = await stores.store.sessions.read(session.id);
  if (record === undefined) throw new Error('no record');
  await takeStep(session, { ...run, messageId: 'msg-5', turn: 3 }, 2);
  const deps = { stateStore: stores.store } as never;
  const detail = await readRunDetail(deps, { userId: 'ann' }, record, run.runId);
  expect(detail?.steps.map(({ step }) => step)).toEqual([1, 2]);
  const steps = await Promise.all([1, 2].map((step) => readStep(deps, run.runId, step)));
  expect(steps.map((step) => step?.prompt)).toEqual(['hello from u2', 'hello from u3']);
});

it("a copy's runs read none of the turns that were copied before theirs", async () => {
  const stores = createMemoryStores();
  const session = drive(stores, newSessionId());
  await playTurn(session, 'u1');
  await playTurn(session, 'u2');
  const rows = await stores.store.sessions.rows(session.id, 0);
  const { sessionId: to } = await createIdleRuns(stores).branch({
    sessionId: session.id,
    by: 'ann',
  });
  await drive(stores, to).newRun('u3');
  const read: number[] = [];
  const { sessions } = stores.store;
  const stateStore = {
    ...stores.store,
    sessions: {
      ...sessions,
      rows: (id: string, from: number, ...more: never[]) => {
        read.push(from);
        return sessions.rows(id, from, ...more);
      },
    },
  };
  for (const { runId } of await stores.store.runs.list(to)) {
    await readStep({ stateStore } as never, runId, 1);
  }
  expect(read).toEqual([rows.length / 2, rows.length / 2]);
});

it('a step that a hidden message asked for shows no message of the turn before', async () => {
  const stores = createMemoryStores();
  const session = drive(stores, newSessionId());
  await playTurn(session, 'u1');
  const { row, ...message } = userMessage('u2');
  const hidden = { ...message, row: { ...row, hidden: true as const }, hidden: true };
  const run = await session.newRun({ messages: [hidden] });
  await takeStep(session, run, 1);
  const step = await readStep({ stateStore: stores.store }, run.runId, 1);
  expect(step?.prompt).toBe('');
});

it('a run that was begun again names who asked for it, and how it began', async () => {
  const stores = createMemoryStores();
  const session = drive(stores, newSessionId());
  const { runId } = await session.newRun('u1');
  await session.end(runId, 'failed');
  await session.retry({ by: 'olaf' });
  const record = await stores.store.sessions.read(session.id);
  if (record === undefined) throw new Error('no record');
  const deps = { stateStore: stores.store } as never;
  const detail = await readRunDetail(deps, { userId: 'ann' }, record, record.runId);
  expect(detail).toMatchObject({ by: 'olaf', mode: 'retry', isNewest: true });
});

it("a sub-agent's run is shown as its, and asks nobody itself", async () => {
  const stores = createMemoryStores();
  const session = drive(stores, newSessionId());
  const { sessions, runs } = stores.store;
  const { runId } = await session.newRun('u1');
  const { call, child } = newSubAgent(session.id, 'd1');
  await session.ask(runId, 1, [call]);
  const parent = { sessionId: session.id, runId, toolCallId: 'd1' };
  await runs.beginChild({ child, parent, now: Date.now() });
  const record = await sessions.read(session.id);
  const own = await sessions.read(child.sessionId);
  if (record === undefined || own === undefined) throw new Error('no record');
  const detail = await readRunDetail(
    { stateStore: stores.store } as never,
    { userId: 'ann' },
    record,
    own.runId,
  );
  expect(detail).toMatchObject({ runId: own.runId, subAgent: true, isNewest: false, pending: [] });
});

it("listRuns: an owner's runs are those of the owner's conversations, a few at a time", async () => {
  const { store, ...rest } = createMemoryStores();
  const own: string[] = [];
  for (const owner of [...Array.from({ length: 23 }, () => 'ann'), 'bob']) {
    const session = drive({ store, ...rest }, newSessionId());
    await session.begin({ owner });
    await store.owners.fold(session.id);
    if (owner === 'ann') own.push(session.id);
  }
  const asked: RunFilter[] = [];
  const list = (filter: RunFilter, page: { cursor?: string | undefined }): Promise<RunPage> => {
    asked.push(filter);
    const [sessionId = ''] = filter.sessions ?? [];
    const run = { runId: sessionId, agent: 'lab', status: 'running' as const, startedAt: 1 };
    return Promise.resolve({ runs: [run], ...(page.cursor === undefined && { cursor: 'more' }) });
  };
  const { owners } = store;
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await listRuns({ list }, owners, { owner: 'ann' }, { limit: 5, cursor });
    ({ cursor } = page);
    pages += 1;
  } while (cursor !== undefined);
  expect(pages).toBe(4);
  expect(new Set(asked.flatMap(({ sessions = [] }) => sessions))).toEqual(new Set(own));
  expect(await listRuns({ list }, owners, { owner: 'eve' }, { limit: 5 })).toEqual({ runs: [] });
  await expect(
    listRuns({ list }, owners, { owner: 'ann' }, { limit: 5, cursor: 'of another list' }),
  ).rejects.toMatchObject({ code: 'validation_error' });
});

it('a run whose record is of another tenant is not shown', async () => {
  const { store, ...rest } = createMemoryStores();
  // Temporal lists a run in this form if its workflow started without search attributes.
  const listed = async (tenant?: string) => {
    const session = drive({ store, ...rest }, newSessionId());
    const begun = await session.newRun({ owner: 'ann', ...(tenant !== undefined && { tenant }) });
    return { runId: begun.runId, agent: 'lab', status: 'running' as const, startedAt: 1 };
  };
  const deps = { stateStore: store } as Pick<RouteDeps, 'stateStore'>;
  const [ofTenant, ofNone] = [await listed('acme'), await listed()];
  expect(await toOperatorRun(deps, {}, ofTenant)).toEqual([]);
  expect(await toOperatorRun(deps, { tenantId: 'other' }, ofTenant)).toEqual([]);
  expect(await toOperatorRun(deps, { tenantId: 'acme' }, ofTenant)).toMatchObject([
    { runId: ofTenant.runId },
  ]);
  expect(await toOperatorRun(deps, {}, ofNone)).toMatchObject([{ runId: ofNone.runId }]);
  // The run's record has expired.
  const gone = { ...ofNone, runId: 'gone:1-x' };
  expect(await toOperatorRun(deps, {}, gone)).toMatchObject([gone]);
});
