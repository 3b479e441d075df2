import { readStep, toOperatorRun } from '../../../extensions/console/run-detail.js';
import { listRuns, type RunFilter, type RunPage } from '../../../extensions/console/run-list.js';
import type { RouteDeps } from '../../../api/deps.js';
import type { NewCall } from '../../../store/contract/call-record.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { drive, newCall, newSessionId } from '../../support/session-driver.js';

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
  return { deps: { stateStore: stores.store }, session, first, second };
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

describe('listRuns', () => {
  it("an owner's runs are those of the owner's conversations, a few at a time", async () => {
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
