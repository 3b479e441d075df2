import { AgentRegistry, defineAgent } from '../../agents/index.js';
import { createBatchPage } from '../../executor/batch-page.js';
import { createRuns } from '../../executor/create-runs.js';
import { formatApprovalId } from '../../protocol/ids.js';
import { hashInput } from '../../protocol/shown-call.js';
import { HelixError } from '../../protocol/errors.js';
import type { BatchAct, BatchItem, BatchPageRef } from '../../protocol/batch-run.js';
import type { Approvers } from '../../protocol/roles.js';
import { createMemoryStores } from '../../stores/memory/index.js';
import { IDLE_WORKFLOWS } from '../support/idle-workflows.js';
import { drive, newCall, newSessionId } from '../support/session-driver.js';

const logger = { warn: () => undefined };
const agents = new AgentRegistry([
  defineAgent({ name: 'tester', systemPrompt: '', llmConfig: { model: 'scripted' } }),
]);

/** Conversations in which a call waits each, and the activity of batches. */
async function crowd(size: number, approvers?: Approvers) {
  const stores = createMemoryStores();
  const { store, streamManager } = stores;
  const runs = createRuns({
    store,
    streamManager,
    agents,
    logger,
    searchAttributes: false,
    workflows: IDLE_WORKFLOWS,
  });
  const sessions = Array.from({ length: size }, () => drive(stores, newSessionId()));
  const ids: string[] = [];
  for (const session of sessions) {
    const begun = await session.begin({ owner: 'ann', agent: 'tester' });
    if (begun.kind !== 'begun') throw new Error(begun.kind);
    ids.push(begun.run.runId);
    await session.ask(begun.run.runId, 1, [newCall('c1', 'approval', { approvers })]);
  }
  const page = createBatchPage({ store, runs, logger });
  const watch = { signal: new AbortController().signal, beat: () => undefined };
  const ref = (act: BatchAct, items: BatchItem[]): BatchPageRef => ({
    batchId: 'b-1',
    act,
    items,
    first: 0,
    rps: 200,
    reason: 'recalled',
    actor: { userId: 'olga', roles: ['operator'], via: 'cli' },
  });
  const entries = async () => {
    // The relay that follows an act may be under way.
    await Promise.all(sessions.map((session) => store.audit.relay(session.id)));
    return (await store.audit.page(undefined, { limit: 500 })).entries;
  };
  return { store, runs, sessions, ids, page, watch, ref, entries };
}

const HASH = hashInput(newCall('c1', 'approval').input);
const calls = (ids: string[]): BatchItem[] => ids.map((id) => [id, 'c1', HASH]);

it.each(['deny', 'approve', 'stop', 'retry'] as const)(
  'a page that is repeated as a whole does each %s once, and counts it as done',
  async (act) => {
    const { page, watch, ref, ids, entries, sessions, runs, store } = await crowd(12);
    if (act === 'retry') for (const { id } of sessions) await runs.stop(id, { mode: 'interrupt' });
    const items = act === 'stop' || act === 'retry' ? ids.map((id) => [id] as const) : calls(ids);
    const all = { tried: 12, done: 12, skipped: 0, failed: 0, problems: [] };
    expect(await page(ref(act, items), watch)).toEqual(all);
    if (act === 'retry') {
      // A run that waits may be repeated as well.
      for (const session of sessions) {
        const { runId = '' } = (await store.sessions.read(session.id)) ?? {};
        await session.ask(runId, 1, [newCall('c2', 'approval')]);
      }
    }
    const state = await Promise.all(sessions.map(({ id }) => store.sessions.read(id)));
    expect(await page(ref(act, items), watch)).toEqual(all);
    expect(await Promise.all(sessions.map(({ id }) => store.sessions.read(id)))).toEqual(state);
    // The stops before the retries are not the batch's.
    const made = (await entries()).filter(({ entry }) => entry.id.startsWith('b-1.'));
    expect(made.map(({ entry }) => entry.id).sort()).toEqual(
      ids.map((_, n) => `b-1.${String(n)}`).sort(),
    );
    for (const { entry, name } of made) {
      expect([entry.action, entry.via, name]).toEqual([act, 'cli', 'olga']);
    }
  },
);

it('what others have decided is skipped, and what is not allowed fails', async () => {
  const { page, watch, ref, ids, runs, sessions } = await crowd(3, { roles: ['approver'] });
  const [first, second] = sessions;
  await runs.submitToolResult(
    {
      kind: 'approval-response',
      approved: true,
      by: 'carl',
      sessionId: first?.id ?? '',
      toolCallId: 'c1',
      approvalId: formatApprovalId(ids[0] ?? '', 'c1'),
      inputHash: HASH,
    },
    { responder: { userId: 'carl', roles: ['approver'] } },
  );
  await runs.stop(second?.id ?? '', { mode: 'interrupt' });
  const order = { ...ref('deny', calls(ids)), actor: { userId: 'eve', via: 'api' as const } };
  expect(await page(order, watch)).toEqual({
    tried: 3,
    done: 0,
    skipped: 2,
    failed: 1,
    problems: [{ target: `${ids[2] ?? ''}::c1`, code: 'not_allowed' }],
  });
});

it('a page that is cancelled says how many of its first items it has tried', async () => {
  const { page, ref, ids, entries } = await crowd(30);
  const cancelled = new AbortController();
  let beats = 0;
  const part = await page(
    { ...ref('deny', calls(ids)), rps: 20 },
    {
      signal: cancelled.signal,
      beat: () => {
        beats += 1;
        if (beats === 3) cancelled.abort();
      },
    },
  );
  expect(part.tried).toBe(part.done);
  expect(part.done).toBeGreaterThanOrEqual(3);
  expect(part.done).toBeLessThan(30);
  const made = (await entries()).map(({ entry }) => entry.id).sort();
  expect(made).toEqual(Array.from({ length: part.done }, (_, n) => `b-1.${String(n)}`).sort());
});

function newGate(): { reached: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const reached = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { reached, open };
}

it('a page that fails waits for the acts under way, and begins no other', async () => {
  const { store, runs, watch, ref, ids } = await crowd(12);
  const begun: string[] = [];
  const second = newGate();
  const gate = newGate();
  const page = createBatchPage({
    store,
    logger,
    runs: {
      ...runs,
      stop: async (sessionId, request) => {
        begun.push(request.runId ?? '');
        if (begun.length === 1) {
          await second.reached;
          throw new HelixError('unavailable', 'away');
        }
        second.open();
        await gate.reached;
        return runs.stop(sessionId, request);
      },
    },
  });
  let isOver = false;
  const items = ids.map((id) => [id] as const);
  const failed = page({ ...ref('stop', items), rps: 20 }, watch).finally(() => {
    isOver = true;
  });
  const refused = expect(failed).rejects.toMatchObject({ code: 'unavailable' });
  await second.reached;
  await new Promise((turn) => setImmediate(turn));
  expect(isOver).toBe(false);
  gate.open();
  await refused;
  expect(begun).toEqual(ids.slice(0, 2));
});
