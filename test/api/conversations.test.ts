import { toStoredSessionId } from '../../ai-sdk/index.js';
import type { Conversations, ProblemBody } from '../../protocol/http.js';
import type { MemoryStores } from '../../store/memory/index.js';
import { drive, newCall, newSessionId, userMessage } from '../support/session-driver.js';
import { startOnMemory, type ApiServer } from './api-server.js';

let stores: MemoryStores;
let api: ApiServer;

beforeEach(async () => {
  const server = await startOnMemory();
  [api, stores] = [server, server.stores];
});

async function newConversation(text: string, owner: string, tenant?: string): Promise<string> {
  const id = newSessionId();
  const session = drive(stores, toStoredSessionId(id, tenant));
  const whose = { owner, ...(tenant !== undefined && { tenant }) };
  await session.begin({ ...whose, messages: [userMessage('u1', text)] });
  await stores.store.owners.fold(session.id);
  return id;
}

async function list(user: string, query = ''): Promise<Conversations> {
  const response = await api.get(`/api/conversations${query}`, { 'x-user': user });
  expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
  return (await response.json()) as Conversations;
}

async function idsOf(user: string): Promise<string[]> {
  return (await list(user)).conversations.map(({ sessionId }) => sessionId);
}

async function refused(user: string, query: string): Promise<[number, string]> {
  const response = await api.get(
    `/api/conversations${query}`,
    user === '' ? {} : { 'x-user': user },
  );
  return [response.status, ((await response.json()) as ProblemBody).code];
}

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

  it('the list shows nothing of other users or tenants, and nothing without a sign-in', async () => {
    const own = await newConversation('one', 'ann');
    const acme = await newConversation('two', 'ann', 'acme');
    expect(await idsOf('ann')).toEqual([own]);
    expect(await idsOf('ann@acme')).toEqual([acme]);
    expect(await idsOf('ann@other')).toEqual([]);
    expect(await idsOf('bob')).toEqual([]);
    expect(await refused('', '')).toEqual([401, 'unauthorized']);
    // A cursor is a position, never an owner.
    await newConversation('three', 'ann');
    const { cursor } = await list('ann', '?limit=1');
    expect((await list('bob', `?cursor=${cursor ?? ''}`)).conversations).toEqual([]);
  });

  it('the list comes in pages', async () => {
    const all: string[] = [];
    for (let n = 0; n < 3; n += 1) all.push(await newConversation(`message ${String(n)}`, 'ann'));
    const first = await list('ann', '?limit=2');
    expect(first.conversations).toHaveLength(2);
    const second = await list('ann', `?limit=2&cursor=${first.cursor ?? ''}`);
    expect(second.cursor).toBeUndefined();
    const seen = [...first.conversations, ...second.conversations];
    expect(seen.map(({ sessionId }) => sessionId).sort()).toEqual(all.sort());
  });

  it('the list finds titles, of the caller alone', async () => {
    const id = await newConversation('Where is my parcel?', 'ann');
    await newConversation('The weather', 'ann');
    await newConversation('Another parcel', 'bob');
    const found = await list('ann', '?q=PARCEL');
    expect(found.conversations.map(({ sessionId }) => sessionId)).toEqual([id]);
    expect(await list('ann', '?q=nothing')).toEqual({ conversations: [] });
    expect(await refused('ann', `?q=${'x'.repeat(257)}`)).toEqual([400, 'validation_error']);
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

  it.each(['?limit=0', '?limit=101', '?limit=x', '?cursor=%00', '?limit=1&limit=2'])(
    'the query %s is refused',
    async (query) => {
      expect(await refused('ann', query)).toEqual([400, 'validation_error']);
    },
  );

  it('the list omits an erased conversation', async () => {
    const id = await newConversation('forget me', 'ann');
    await stores.store.sessions.erase(id);
    expect(await list('ann')).toEqual({ conversations: [] });
  });
});
