import { toStoredSessionId, type Authorize } from '../../ai-sdk/index.js';
import type { Batches, BatchState } from '../../executor/batches.js';
import type { RunFilter } from '../../executor/run-list.js';
import type { BatchItem } from '../../protocol/batch-run.js';
import { hashInput } from '../../protocol/shown-call.js';
import { HelixError } from '../../protocol/errors.js';
import { toShownSessionId } from '../../protocol/ids.js';
import { createMemoryStores, type MemoryStores } from '../../stores/memory/index.js';
import { drive, newCall, type SessionDriver } from '../support/session-driver.js';
import { startOnMemory, type ApiServer } from './api-server.js';

const STOP = { act: 'stop', filter: { agent: 'tester' } };

let stores: MemoryStores;
let api: ApiServer;
let session: SessionDriver;
let authorize: Authorize | undefined;
let begun: Map<string, BatchState>;
let listed: RunFilter[];
/** Of the newest batch. */
let taken: readonly BatchItem[];

let aborted: string[];
let isAway: boolean;
/** Requests for the end of a batch. */
let asked: number;
/** The first start is carried out, but the answer does not arrive. */
let isFirstLost: boolean;
const batches: Batches = {
  start: async ({ batchId, act, actor, items, refused }) => {
    const failed = refused.length;
    const problems = [...refused];
    const counts = { total: items.length + failed, done: 0, skipped: 0, failed, problems };
    const state = { batchId, act, by: actor.userId, status: 'running', startedAt: 1 } as const;
    begun.set(batchId, { ...state, ...counts });
    taken = items;
    if (isFirstLost && begun.size === 1) throw new HelixError('unavailable', 'no answer in time');
    return { ...state, ...counts };
  },
  read: async (id) => begun.get(id),
  list: async () => [],
  abort: async (id) => {
    asked += 1;
    if (isAway) throw new HelixError('unavailable', 'away');
    aborted.push(id);
  },
};

beforeEach(async () => {
  authorize = undefined;
  [isFirstLost, isAway] = [false, false];
  begun = new Map();
  aborted = [];
  asked = 0;
  listed = [];
  stores = createMemoryStores();
  session = drive(stores, toStoredSessionId('mine', 'acme'));
  const first = await session.begin({ owner: 'ann', tenant: 'acme' });
  if (first.kind !== 'begun') throw new Error(first.kind);
  const { runId } = first.run;
  await session.ask(runId, 1, [newCall('c1', 'approval', { deadlineMs: 60_000 })]);
  api = await startOnMemory({
    stores,
    runs: {
      batches,
      runList: {
        list: async (filter) => {
          listed.push(filter);
          return { runs: [{ runId, agent: 'tester', status: 'running', startedAt: 1 }] };
        },
        count: async () => 1,
      },
    },
    authorize: (...about) => authorize?.(...about) ?? true,
    authenticate: (request) => ({
      userId: request.get('x-user') ?? '',
      tenantId: 'acme',
      roles: ['operator'],
    }),
  });
});
afterEach(() => api.close());

async function post(
  body: object,
  key: string,
  user = 'col',
): Promise<{ status: number; id?: string | undefined; code?: string | undefined }> {
  const headers = { 'x-user': user, 'idempotency-key': key };
  const response = await api.post('/api/operator/batches', body, headers);
  const { id, code } = (await response.json()) as { id?: string; code?: string };
  return { status: response.status, id, code };
}

it('one that began in a request that was not confirmed is not begun again with its key', async () => {
  isFirstLost = true;
  expect((await post(STOP, 'k1')).status).toBe(503);
  // Its act was carried out: nothing matches any more.
  await stores.store.runs.stop(session.id, { mode: 'interrupt' });
  const again = await post(STOP, 'k1');
  const [id = ''] = begun.keys();
  expect(again).toMatchObject({ status: 202, id: toShownSessionId(id) });
  expect(begun.size).toBe(1);
});

it('keys of other people, and other keys, begin batches of their own', async () => {
  for (const [key, user] of [['k1'], ['k2'], ['k1', 'bob']]) {
    expect((await post(STOP, key ?? '', user)).status).toBe(202);
  }
  expect(begun.size).toBe(3);
});

it('a retry leaves completed runs out of its list', async () => {
  await post({ ...STOP, act: 'retry' }, 'k1');
  await post(STOP, 'k2');
  expect(listed).toMatchObject([{ isOpen: false, except: 'completed' }, { isOpen: true }]);
  expect(listed[1]?.except).toBeUndefined();
});

it('none is planned while a rule does not answer', async () => {
  authorize = (_, action, { call }) => {
    if (action === 'answer' && call !== undefined) throw new HelixError('unavailable', 'away');
    return true;
  };
  const body = { act: 'deny', filter: { agent: 'tester' }, reason: 'all', dryRun: true };
  expect(await post(body, 'k1')).toMatchObject({ status: 503, code: 'unavailable' });
});

it('goes with the person who began it: while it acts, or Temporal is away, something is left', async () => {
  const { batches: records } = stores.store;
  const work = { items: [], refused: 0, reason: 'all' };
  const actor = { userId: 'col', tenantId: 'acme', via: 'api' } as const;
  await records?.save('b-1', { ...work, actor });
  await records?.save('b-2', { ...work, actor: { ...actor, userId: 'bob' } });
  const counts = { total: 1, done: 0, skipped: 0, failed: 0, problems: [] };
  begun.set('b-1', { batchId: 'b-1', act: 'deny', startedAt: 1, status: 'running', ...counts });
  isAway = true;
  expect(await erase()).toEqual([202, 0]);
  isAway = false;
  expect(await erase()).toEqual([202, 0]);
  expect(aborted).toEqual(['b-1']);
  expect(await records?.about('b-1')).toMatchObject({ by: 'col' });
  begun.clear();
  expect(await erase()).toEqual([200, 1]);
  expect(await records?.about('b-1')).toEqual({ problems: [] });
  expect(await records?.work('b-1')).toBeUndefined();
  expect(await records?.work('b-2')).toMatchObject({ reason: 'all' });
});

it('is erased though many before it still act, and one that Temporal does not end is the last tried', async () => {
  const { batches: records } = stores.store;
  const actor = { userId: 'col', tenantId: 'acme', via: 'api' } as const;
  const ids = Array.from({ length: 102 }, (_, n) => `b-${String(n).padStart(3, '0')}`);
  const counts = { total: 1, done: 0, skipped: 0, failed: 0, problems: [] };
  for (const batchId of ids) {
    await records?.save(batchId, { items: [], refused: 0, actor });
    begun.set(batchId, { batchId, act: 'deny', startedAt: 1, status: 'running', ...counts });
  }
  begun.delete('b-101');
  isAway = true;
  expect(await erase()).toEqual([202, 0]);
  expect(asked).toBe(1);
  isAway = false;
  expect(await erase()).toEqual([202, 1]);
  expect(await records?.about('b-101')).toEqual({ problems: [] });
});

/** Erases col; how the reply is, and how many batches it counts. */
async function erase(): Promise<unknown[]> {
  const headers = { 'x-user': 'ida', 'content-type': 'application/json' };
  const response = await fetch(`${api.url}/api/operator/users/col`, {
    method: 'DELETE',
    headers,
  });
  const { batches: erased } = (await response.json()) as { batches?: number };
  return [response.status, erased];
}

it('a call with approvers is decided with others only by the input that was shown', async () => {
  const guarded = { approvers: { roles: ['approver' as const] }, input: { amount: 5 } };
  const { runId = '' } = (await stores.store.sessions.read(session.id)) ?? {};
  await session.decide(runId, 'c1', false);
  await session.ask(runId, 2, [newCall('c2', 'approval', guarded)]);
  const filter = { agent: 'tester' };
  const plan = async (body: object): Promise<unknown> => {
    const headers = { 'x-user': 'col' };
    return (await api.post('/api/operator/batches', { act: 'approve', ...body }, headers)).json();
  };
  const inputHash = hashInput({ amount: 5 });
  // A dry run shows it; what nobody was shown is left out.
  expect(await plan({ filter, dryRun: true })).toMatchObject({
    targets: [{ runId, toolCallId: 'c2', input: '{"amount":5}', inputHash }],
    problems: [],
  });
  const refused = { total: 0, problems: [{ target: `${runId}::c2`, code: 'not_pending' }] };
  const target = { runId, toolCallId: 'c2' };
  expect(await plan({ filter })).toMatchObject(refused);
  expect(await plan({ targets: [target] })).toMatchObject(refused);
  const other = { ...target, inputHash: hashInput({ amount: 6 }) };
  expect(await plan({ targets: [other] })).toMatchObject(refused);
  expect(begun.size).toBe(0);
  expect(await post({ act: 'approve', targets: [{ ...target, inputHash }] }, 'k1')).toMatchObject({
    status: 202,
  });
  expect(taken).toEqual([[runId, 'c2', inputHash]]);
});
