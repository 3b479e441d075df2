import { toStoredSessionId } from '../../ai-sdk/index.js';
import type { ProblemBody, SessionPending, WaitingSessions } from '../../protocol/http.js';
import type { OperatorWaiting } from '../../protocol/operator.js';
import type { MemoryStores } from '../../store/memory/index.js';
import { drive, newCall, userMessage, type SessionDriver } from '../support/session-driver.js';
import { startOnMemory, type ApiServer } from './api-server.js';

let stores: MemoryStores;
let api: ApiServer;
/** Expires calls, in place of the executor. */
let expire: (sessionId: string) => Promise<boolean>;

beforeEach(async () => {
  expire = () => Promise.resolve(false);
  const server = await startOnMemory({ instead: { expireCalls: (id) => expire(id) } });
  [api, stores] = [server, server.stores];
});

async function newAsking(owner: string, tenant?: string, deadlineMs?: number) {
  const session = drive(stores);
  const begun = await session.newRun({ owner, ...(tenant !== undefined && { tenant }) });
  const late = deadlineMs === undefined ? {} : { deadlineMs };
  await session.ask(begun.runId, 1, [newCall('c1', 'approval', late), newCall('c2', 'client')]);
  return { session, runId: begun.runId };
}

async function inbox(user: string, query = ''): Promise<WaitingSessions> {
  const response = await api.get(`/api/sessions${query}`, { 'x-user': user });
  expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
  return (await response.json()) as WaitingSessions;
}

async function idsOf(user: string): Promise<string[]> {
  return (await inbox(user)).sessions.map(({ sessionId }) => sessionId);
}

async function refused(user: string, query: string): Promise<[number, string]> {
  const response = await api.get(`/api/sessions${query}`, user === '' ? {} : { 'x-user': user });
  return [response.status, ((await response.json()) as ProblemBody).code];
}

describe('GET /api/sessions', () => {
  it('the list has the waiting sessions with their questions', async () => {
    const { session, runId } = await newAsking('ann');
    const { sessions, cursor } = await inbox('ann');
    expect(cursor).toBeUndefined();
    expect(sessions).toEqual([
      {
        sessionId: session.id,
        title: expect.any(String),
        agent: 'tester',
        run: { runId, status: 'waiting_approval' },
        since: expect.any(Number),
        pending: [
          expect.objectContaining({ toolCallId: 'c1', kind: 'approval', input: { of: 'c1' } }),
          expect.objectContaining({ toolCallId: 'c2', kind: 'client' }),
        ],
      },
    ]);
    await session.decide(runId, 'c1', true);
    expect((await inbox('ann')).sessions[0]?.pending).toHaveLength(1);
    await session.answer(runId, 'c2', { output: 'here' });
    expect(await inbox('ann')).toEqual({ sessions: [] });
  });

  it('the list shows nothing of other users or tenants, and nothing without a sign-in', async () => {
    const own = (await newAsking('ann')).session.id;
    const acme = (await newAsking('ann', 'acme')).session.id;
    expect(await idsOf('ann')).toEqual([own]);
    expect(await idsOf('ann@acme')).toEqual([acme]);
    expect(await idsOf('ann@other')).toEqual([]);
    expect(await idsOf('bob')).toEqual([]);
    expect(await refused('', '')).toEqual([401, 'unauthorized']);
    // A cursor is a position, never an owner.
    await newAsking('ann');
    const { cursor } = await inbox('ann', '?limit=1');
    expect((await inbox('bob', `?cursor=${cursor ?? ''}`)).sessions).toEqual([]);
  });

  it('the list comes in pages', async () => {
    const all: SessionDriver[] = [];
    for (let n = 0; n < 3; n += 1) all.push((await newAsking('ann')).session);
    const first = await inbox('ann', '?limit=2');
    expect(first.sessions).toHaveLength(2);
    const second = await inbox('ann', `?limit=2&cursor=${first.cursor ?? ''}`);
    expect(second.cursor).toBeUndefined();
    expect(
      [...first.sessions, ...second.sessions].map(({ sessionId }) => sessionId).sort(),
    ).toEqual(all.map(({ id }) => id).sort());
  });

  it.each(['?limit=0', '?limit=101', '?limit=x', '?cursor=%00', '?limit=1&limit=2'])(
    'the query %s is refused',
    async (query) => {
      expect(await refused('ann', query)).toEqual([400, 'validation_error']);
    },
  );

  it('the list has deadlines, and settles overdue questions first', async () => {
    const { session, runId } = await newAsking('ann', undefined, 60_000);
    const [waiting] = (await inbox('ann')).sessions;
    expect(waiting?.deadline).toBeGreaterThan(Date.now());
    expect(waiting?.pending[0]).toMatchObject({ deadline: waiting?.deadline });

    const overdue = await newAsking('ann', undefined, -1);
    expire = async (id) => {
      if (id !== overdue.session.id) return false;
      await overdue.session.expire(overdue.runId, 'c1');
      await overdue.session.answer(overdue.runId, 'c2', { output: 1 });
      return true;
    };
    expect((await inbox('ann')).sessions.map(({ run }) => run.runId)).toEqual([runId]);
    expect(session.id).toBe(waiting?.sessionId);
  });
});

describe('a person who decides', () => {
  const hiddenRow = { role: 'user', id: 'h1', hidden: true } as const;
  const parts = [{ type: 'text', text: 'Refund it in any case.' }] as const;

  it('the pending questions come with the hidden messages that the model got', async () => {
    const { session, runId } = await newAsking('ann');
    const pendingOf = async (): Promise<SessionPending> => {
      const response = await api.get(`/api/sessions/${session.id}/pending`, { 'x-user': 'ann' });
      return (await response.json()) as SessionPending;
    };
    expect(await pendingOf()).not.toHaveProperty('hiddenMessages');
    await session.decide(runId, 'c1', false);
    await session.answer(runId, 'c2', { output: 'here' });
    await session.end(runId, 'aborted');
    const row = { ...hiddenRow, parts: [...parts], metadata: { hidden: true } };
    const hidden = { id: 'h1', hash: 'h', row, hidden: true };
    const next = await session.newRun({ messages: [hidden, userMessage('u9', 'My refund?')] });
    await session.ask(next.runId, 1, [newCall('c3', 'approval')]);

    const shown = { id: 'h1', role: 'user', parts, metadata: { hidden: true } };
    expect(await pendingOf()).toMatchObject({
      pending: [{ toolCallId: 'c3' }],
      hiddenMessages: [shown],
    });
    const history = async (query: string): Promise<string[]> => {
      const path = `/api/chat/${session.id}/messages${query}`;
      const page: unknown = await (await api.get(path, { 'x-user': 'ann' })).json();
      return (page as { messages: { id: string }[] }).messages.map(({ id }) => id);
    };
    expect(await history('')).not.toContain('h1');
    expect(await history('?hidden=true')).toContain('h1');
  });
});

describe('what one conversation asks, for colleagues', () => {
  beforeEach(async () => {
    for (const id of ['mine', 'done']) {
      const session = drive(stores, toStoredSessionId(id, 'acme'));
      const begun = await session.newRun({ owner: 'ann', tenant: 'acme' });
      if (id === 'mine') await session.ask(begun.runId, 1, [newCall('c1', 'approval')]);
    }
  });

  /** Status, and the code of a refusal or what may be decided. */
  async function read(user: string, about = 'mine'): Promise<unknown[]> {
    const path = `/api/operator/waiting?session=${about}`;
    const response = await api.get(path, { 'x-user': user });
    const body = (await response.json()) as Partial<OperatorWaiting> & { code?: string };
    return [
      response.status,
      body.code ?? body.sessions?.map(({ pending }) => pending[0]?.mayDecide),
    ];
  }

  it('what one conversation asks is read by its owner, by colleagues with a role, and by no one else', async () => {
    expect(await read('ann@acme')).toEqual([200, [true]]);
    expect(await read('col@acme@approver')).toEqual([200, [true]]);
    expect(await read('vera@acme@viewer')).toEqual([200, [false]]);
    expect(await read('ann@acme', 'done')).toEqual([200, []]);
    for (const user of ['col@acme', 'ann@other@operator', 'col@other@operator']) {
      expect(await read(user)).toEqual([404, 'not_found']);
    }
    expect(await read('col@acme@operator', 'unknown')).toEqual([404, 'not_found']);
    expect(await read('col@acme@operator', '../x')).toEqual([400, 'validation_error']);
  });

  it('that a colleague has read it is recorded', async () => {
    await read('rolf@acme@viewer');
    const { entries } = await stores.store.audit.page('acme', { limit: 10, action: 'read' });
    const readers = entries.map(({ entry, name }) => [name, entry.target.sessionId]);
    expect(readers).toContainEqual(['rolf', 'mine']);
    expect(readers.filter(([name]) => name === 'ann')).toEqual([]);
  });
});
