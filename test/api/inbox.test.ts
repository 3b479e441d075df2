import { toStoredSessionId } from '../../ai-sdk/index.js';
import type {
  ProblemBody,
  SessionPending,
  WaitingSessions,
  Conversations,
} from '../../protocol/replies.js';
import type { OperatorWaiting } from '../../protocol/operator.js';
import type { MemoryStores } from '../../store/memory/index.js';
import { drive, newCall, userMessage, newSessionId } from '../support/session-driver.js';
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

async function newConversation(text: string, owner: string, tenant?: string): Promise<string> {
  const id = newSessionId();
  const session = drive(stores, toStoredSessionId(id, tenant));
  const whose = { owner, ...(tenant !== undefined && { tenant }) };
  await session.newRun({ ...whose, messages: [userMessage('u1', text)] });
  await stores.store.owners.fold(session.id);
  return id;
}

async function read(path: string, user: string): Promise<unknown> {
  const response = await api.get(`/api/${path}`, { 'x-user': user });
  expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
  return response.json();
}
const inbox = async (user: string): Promise<WaitingSessions> =>
  (await read('sessions', user)) as WaitingSessions;
const list = async (user: string, query = ''): Promise<Conversations> =>
  (await read(`conversations${query}`, user)) as Conversations;

async function refused(user: string, path: string): Promise<[number, string]> {
  const response = await api.get(`/api/${path}`, user === '' ? {} : { 'x-user': user });
  return [response.status, ((await response.json()) as ProblemBody).code];
}

describe.each<[list: string, add: (owner: string, tenant?: string) => Promise<string>]>([
  ['sessions', async (owner, tenant) => (await newAsking(owner, tenant)).session.id],
  ['conversations', (owner, tenant) => newConversation('hello', owner, tenant)],
])('the list of %s', (path, add) => {
  interface Page {
    cursor?: string;
    sessions?: { sessionId: string }[];
    conversations?: { sessionId: string }[];
  }

  async function page(user: string, query = ''): Promise<{ ids: string[]; cursor?: string }> {
    const { cursor, ...lists } = (await read(path + query, user)) as Page;
    const shown = lists.sessions ?? lists.conversations ?? [];
    return { ids: shown.map(({ sessionId }) => sessionId), ...(cursor && { cursor }) };
  }

  it('shows nothing of other users or tenants, and nothing without a sign-in', async () => {
    const own = await add('ann');
    const acme = await add('ann', 'acme');
    expect(await page('ann')).toEqual({ ids: [own] });
    expect(await page('ann@acme')).toEqual({ ids: [acme] });
    for (const user of ['ann@other', 'bob']) expect(await page(user)).toEqual({ ids: [] });
    expect(await refused('', path)).toEqual([401, 'unauthorized']);
    // A cursor is a position, never an owner.
    await add('ann');
    const { cursor = '' } = await page('ann', '?limit=1');
    expect((await page('bob', `?cursor=${cursor}`)).ids).toEqual([]);
  });

  it('comes in pages', async () => {
    const all: string[] = [];
    for (let n = 0; n < 3; n += 1) all.push(await add('ann'));
    const first = await page('ann', '?limit=2');
    expect(first.ids).toHaveLength(2);
    const second = await page('ann', `?limit=2&cursor=${first.cursor ?? ''}`);
    expect(second.cursor).toBeUndefined();
    expect([...first.ids, ...second.ids].sort()).toEqual(all.sort());
  });

  it.each(['?limit=0', '?limit=101', '?limit=x', '?cursor=%00', '?limit=1&limit=2'])(
    'refuses the query %s',
    async (query) => {
      expect(await refused('ann', path + query)).toEqual([400, 'validation_error']);
    },
  );
});

describe('GET /api/sessions', () => {
  it('a session that is deleted while its overdue questions are settled is not shown', async () => {
    expire = async (id) => {
      await stores.store.sessions.erase(id);
      return true;
    };
    for (const path of ['sessions/:id/pending', 'agent/status?sessionId=:id']) {
      const { session } = await newAsking('ann', undefined, -1);
      expect((await refused('ann', path.replace(':id', session.id)))[0]).toBe(404);
    }
    await newAsking('ann', undefined, -1);
    expect((await inbox('ann')).sessions).toEqual([]);
  });

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

describe('GET /api/conversations', () => {
  it('the list has title, agent, last change and status of the caller’s conversations', async () => {
    const id = await newConversation('Where is my parcel?', 'ann');
    expect(await list('ann')).toEqual({
      conversations: [
        {
          sessionId: id,
          title: 'Where is my parcel?',
          agent: 'tester',
          status: 'starting',
          updatedAt: (await stores.store.sessions.read(id))?.updatedAt,
          waiting: 0,
        },
      ],
    });
  });

  it('the list finds titles, of the caller alone', async () => {
    const id = await newConversation('Where is my parcel?', 'ann');
    await newConversation('The weather', 'ann');
    await newConversation('Another parcel', 'bob');
    const found = await list('ann', '?q=PARCEL');
    expect(found.conversations.map(({ sessionId }) => sessionId)).toEqual([id]);
    expect(await list('ann', '?q=nothing')).toEqual({ conversations: [] });
    expect(await refused('ann', `conversations?q=${'x'.repeat(257)}`)).toEqual([
      400,
      'validation_error',
    ]);
  });

  it('the list counts the open questions of each conversation', async () => {
    const id = await newConversation('Charge me', 'ann');
    const session = drive(stores, id);
    const { runId = '' } = (await stores.store.sessions.read(id)) ?? {};
    await session.ask(runId, 1, [newCall('c1', 'approval'), newCall('c2', 'client')]);
    const shown = async () => (await list('ann')).conversations[0];
    expect(await shown()).toMatchObject({ status: 'waiting_approval', waiting: 2 });
    await session.decide(runId, 'c1', true);
    expect(await shown()).toMatchObject({ waiting: 1 });
    await session.answer(runId, 'c2', { output: 'here' });
    expect(await shown()).toMatchObject({ waiting: 0 });
  });
});

const hiddenRow = { role: 'user', id: 'h1', hidden: true } as const;
const parts = [{ type: 'text', text: 'Refund it in any case.' }] as const;

it('a person who decides: the pending questions come with the hidden messages that the model got', async () => {
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

describe('what one conversation asks, for colleagues', () => {
  beforeEach(async () => {
    for (const id of ['mine', 'done']) {
      const session = drive(stores, toStoredSessionId(id, 'acme'));
      const begun = await session.newRun({ owner: 'ann', tenant: 'acme' });
      if (id === 'mine') await session.ask(begun.runId, 1, [newCall('c1', 'approval')]);
    }
  });

  /** Status, and the code of a refusal or what may be decided. */
  async function asked(user: string, about = 'mine'): Promise<unknown[]> {
    const path = `/api/operator/waiting?session=${about}`;
    const response = await api.get(path, { 'x-user': user });
    const body = (await response.json()) as Partial<OperatorWaiting> & { code?: string };
    return [
      response.status,
      body.code ?? body.sessions?.map(({ pending }) => pending[0]?.mayDecide),
    ];
  }

  it('what one conversation asks is read by its owner, by colleagues with a role, and by no one else', async () => {
    expect(await asked('ann@acme')).toEqual([200, [true]]);
    expect(await asked('col@acme@approver')).toEqual([200, [true]]);
    expect(await asked('vera@acme@viewer')).toEqual([200, [false]]);
    expect(await asked('ann@acme', 'done')).toEqual([200, []]);
    for (const user of ['col@acme', 'ann@other@operator', 'col@other@operator']) {
      expect(await asked(user)).toEqual([404, 'not_found']);
    }
    expect(await asked('col@acme@operator', 'unknown')).toEqual([404, 'not_found']);
    expect(await asked('col@acme@operator', '../x')).toEqual([400, 'validation_error']);
  });

  it('that a colleague has read it is recorded', async () => {
    await asked('rolf@acme@viewer');
    const { entries } = await stores.store.audit.page('acme', { limit: 10, action: 'read' });
    const readers = entries.map(({ entry, name }) => [name, entry.target.sessionId]);
    expect(readers).toContainEqual(['rolf', 'mine']);
    expect(readers.filter(([name]) => name === 'ann')).toEqual([]);
  });
});
