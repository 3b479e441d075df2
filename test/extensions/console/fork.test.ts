import { AgentRegistry } from '../../../agents/index.js';
import { toStoredSessionId } from '../../../ai-sdk/index.js';
import { limits, toQuotas } from '../../../extensions/limits/index.js';
import { HelixError } from '../../../protocol/errors.js';
import { createMemoryStores, type MemoryStores } from '../../../store/memory/index.js';
import { changing, drive, newCall, type SessionDriver } from '../../support/session-driver.js';
import { startApi, type ApiServer } from '../../api/api-server.js';
import { createIdleRuns } from '../../support/idle-workflows.js';
import { fakeAgent } from '../../support/fake-agent.js';

/** Forks a run of Ann, who may have two active runs. */
let stores: MemoryStores;
let api: ApiServer;
let executor: ReturnType<typeof createIdleRuns>;
let session: SessionDriver;
let runId: string;
/** True makes the copy's resumption fail. */
let isAway: boolean;
/** Happens right before the next resumption. */
let before: (() => Promise<unknown>) | undefined;

beforeEach(async () => {
  const opened = createMemoryStores();
  isAway = false;
  const store = changing(opened.store, (changes) => {
    const { runs } = changes;
    const resume: typeof runs.resume = async (input) => {
      if (isAway) throw new HelixError('unavailable', 'Redis is away.');
      const happens = before;
      before = undefined;
      await happens?.();
      return runs.resume(input);
    };
    return { ...changes, runs: { ...runs, resume } };
  });
  stores = { ...opened, store };
  const agents = new AgentRegistry([fakeAgent('tester', 'scripted')]);
  const extensions = [limits({ quotas: toQuotas({ runs: 2 }) })];
  executor = createIdleRuns(stores, { agents, extensions });
  api = await startApi({
    executor: { runs: executor },
    stores,
    agents,
    allowUnauthenticated: false,
    authenticate: () => ({ userId: 'olga', tenantId: 'acme', roles: ['operator'] }),
  });
  session = drive(stores, toStoredSessionId('mine', 'acme'));
  runId = await begin(session);
});

async function begin(one: SessionDriver): Promise<string> {
  const begun = await one.newRun({ owner: 'ann', tenant: 'acme' });
  await stores.store.owners.fold(one.id);
  return begun.runId;
}

const path = (): string => `/api/operator/runs/${encodeURIComponent(runId)}/fork`;

async function fork(step: number, sessionId = 'copy'): Promise<[number, string | undefined]> {
  const reply = await api.post(path(), { step, sessionId });
  return [reply.status, ((await reply.json()) as { code?: string }).code];
}

const copied = (sessionId = 'copy') =>
  stores.store.sessions.read(toStoredSessionId(sessionId, 'acme'));

/** Adds a step with a finished call `c1` and a call `c2` of this kind. */
async function doneBeside(kind: 'approval' | 'client' | 'server'): Promise<void> {
  await session.ask(runId, 1, [newCall('c1', 'server'), newCall('c2', kind)]);
  await session.start(runId, 1, 'c1');
  await session.finishCall(runId, 1, 'c1', { charged: 5 });
}

it.each(['approval', 'client', 'server'] as const)(
  'a step whose %s call has no result yet is refused: the copy would make its calls again',
  async (kind) => {
    await doneBeside(kind);
    expect(await fork(1)).toEqual([409, 'not_resumable']);
    expect(await copied()).toBeUndefined();
    expect(await fork(0)).toEqual([201, undefined]);
  },
);

it('a step whose calls were settled by a stop is copied with their results', async () => {
  await doneBeside('approval');
  await session.stop();
  await session.end(runId, 'interrupted');
  expect(await fork(1)).toEqual([201, undefined]);
  const rows = await stores.store.sessions.rows((await copied())?.sessionId ?? '', 0);
  expect(rows.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool']);
});

it('a fork that may not run leaves no copy, and is repeated under the same id', async () => {
  const other = drive(stores, toStoredSessionId('other', 'acme'));
  const second = await begin(other);
  expect(await fork(0)).toEqual([429, 'quota_exceeded']);
  expect(await copied()).toBeUndefined();
  const { conversations } = await stores.store.owners.page(
    { owner: 'ann', tenant: 'acme' },
    { limit: 10 },
  );
  expect(conversations).toHaveLength(2);
  await other.end(second, 'completed');
  expect(await fork(0)).toEqual([201, undefined]);
});

it.each([{ sessionId: 'copy' }, {}])(
  'a fork that was cut off after its copy is sent again with its key: the same copy is continued once',
  async (named) => {
    const send = (step: number, key = 'k') =>
      api.post(path(), { step, ...named }, { 'idempotency-key': key });
    isAway = true;
    expect((await send(0)).status).toBe(503);
    isAway = false;
    // The key names the copy at that step alone.
    expect((await send(1)).status).toBe(404);
    const first = await send(0);
    expect(first.status).toBe(201);
    const { sessionId } = (await first.json()) as { sessionId: string };
    const record = await copied(sessionId);
    expect(record).toMatchObject({ status: 'starting', runMode: 'with_confirmation' });
    expect(await stores.store.runs.list(record?.sessionId ?? '')).toHaveLength(2);
    const { conversations } = await stores.store.owners.page(
      { owner: 'ann', tenant: 'acme' },
      { limit: 10 },
    );
    expect(conversations).toHaveLength(2);
  },
);

it.each(['interrupted', 'completed'] as const)(
  'a repeat of a fork leaves the run of the copy alone, which was %s meanwhile',
  async (status) => {
    const newSessionId = toStoredSessionId('copy', 'acme');
    const fork = () =>
      executor.fork({ sessionId: session.id, newSessionId, runId, step: 0, key: 'k' });
    let first: { runId: string } | undefined;
    const end = async () => {
      first = await fork();
      await drive(stores, newSessionId).end(first.runId, 'completed');
    };
    if (status === 'completed') before = end;
    else {
      first = await fork();
      await executor.stop(newSessionId, { mode: 'interrupt' });
    }
    expect(await fork()).toEqual(first);
    expect(await copied()).toMatchObject({ status, runId: first?.runId });
  },
);

it('the id of a copy that is cut off is taken for every other request', async () => {
  const send = (step: number, key: string) =>
    api.post(path(), { step, sessionId: 'copy' }, { 'idempotency-key': key });
  isAway = true;
  expect((await send(0, 'k')).status).toBe(503);
  isAway = false;
  expect((await send(0, 'other')).status).toBe(409);
  expect((await fork(0))[1]).toBe('session_exists');
  expect((await copied())?.status).toBe('interrupted');
});

it('a copy that is cut off is kept while its owner may run no more, and continued once that passes', async () => {
  const send = () => api.post(path(), { step: 0, sessionId: 'copy' }, { 'idempotency-key': 'k' });
  isAway = true;
  expect((await send()).status).toBe(503);
  isAway = false;
  const other = drive(stores, toStoredSessionId('other', 'acme'));
  const second = await begin(other);
  const { sessionId = '' } = (await copied()) ?? {};
  const { now } = Date;
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 60_000);
  try {
    const swept = { kind: 'active', againMs: expect.any(Number) };
    expect(await executor.sweepSession(sessionId)).toEqual(swept);
    expect(await copied()).toMatchObject({ status: 'interrupted', runMode: 'branch' });
    await other.end(second, 'completed');
    expect(await executor.sweepSession(sessionId)).toEqual(swept);
  } finally {
    clock.mockRestore();
  }
  const continued = await copied();
  expect(continued).toMatchObject({ status: 'starting', runMode: 'with_confirmation' });
  const again = (await (await send()).json()) as { runId?: string };
  expect(again.runId).toBe(continued?.runId);
});
