import { toStoredSessionId } from '../../../ai-sdk/index.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import type { ByteRange } from '../../../store/contract/files.js';
import { HelixError } from '../../../protocol/errors.js';
import { LIMITS } from '../../../protocol/limits.js';
import { newSubAgent } from '../../../store/conformance/tree.js';
import { toAct } from '../../../runs/record/acts.js';
import { drive, userMessage } from '../../support/session-driver.js';
import { startApi, type ApiServer, type StartOptions } from '../../api/api-server.js';

let api: ApiServer;

const MB = 1024 * 1024;
const owner = { owner: 'ann', tenant: 'acme' };

async function start(options: StartOptions = {}) {
  const stores = createMemoryStores();
  const { store } = stores;
  const read: ByteRange[] = [];
  const files = {
    ...store.files,
    content: (sessionId: string, fileId: string, range: ByteRange) => {
      read.push(range);
      return store.files.content(sessionId, fileId, range);
    },
  };
  api = await startApi({
    stores: { ...stores, store: { ...store, files } },
    allowUnauthenticated: false,
    authenticate: () => ({ userId: 'ann', tenantId: 'acme' }),
    ...options,
  });
  const session = drive(stores, toStoredSessionId('mine', 'acme'));
  // More than are read at once.
  const messages = Array.from({ length: 101 }, (_, n) => userMessage(`u${String(n)}`));
  await session.begin({ ...owner, messages });
  await store.owners.fold(session.id);
  return { stores, store, session, read };
}

async function lines(): Promise<Record<string, unknown>[]> {
  const reply = await api.get('/api/me/export');
  expect(reply.status).toBe(200);
  const text = await reply.text();
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

it('an export counts among the requests of a minute, and is recorded only if it is answered', async () => {
  const { store } = await start({ limits: { requestsPerMinute: 2 } });
  await lines();
  await lines();
  const refused = await api.get('/api/me/export');
  expect([refused.status, await refused.json()]).toMatchObject([
    429,
    { code: 'too_many_requests' },
  ]);
  const { entries } = await store.audit.page('acme', { limit: 10, action: 'export' });
  const ofPerson = { entry: { target: { person: expect.any(String) as unknown } } };
  expect(entries).toMatchObject([ofPerson, ofPerson]);
});

it.each(['before the first line', 'in the middle'])(
  'an export that fails %s is cut off, and logged',
  async (when) => {
    const { store } = await start();
    const away = new HelixError('not_found', 'It is away.');
    if (when === 'in the middle') jest.spyOn(store.queue, 'read').mockRejectedValue(away);
    else jest.spyOn(store.owners, 'page').mockRejectedValue(away);
    const reply = await api.get('/api/me/export');
    expect(reply.status).toBe(200);
    await expect(reply.text()).rejects.toThrow('terminated');
    expect(api.logged.at(-1)).toMatch('/api/me/export","message":"It is away.');
  },
);

it('a file is read and sent in pieces, and is whole', async () => {
  const { store, session, read } = await start();
  const content = new Uint8Array(2 * MB + 1).map((_, at) => at % 251);
  const file = { id: 'f1', mediaType: 'text/plain', sha256: '', at: 1, filename: undefined };
  const limits = { files: 10, bytes: 10 * MB };
  await store.files.add({ sessionId: session.id, ...owner, file, content, limits });
  const found = (await lines()).find(({ type }) => type === 'file');
  expect(Buffer.compare(Buffer.from(String(found?.['data']), 'base64'), content)).toBe(0);
  expect(Math.max(...read.map(({ from, to }) => to - from))).toBeLessThanOrEqual(MB / 4);
});

it('an export has the whole transcript, and those of sub-agents', async () => {
  const { store, session } = await start();
  const runId = (await store.sessions.read(session.id))?.runId ?? '';
  const { call, child } = newSubAgent(session.id, 'd1');
  await session.ask(runId, 1, [call]);
  const parent = { sessionId: session.id, runId, toolCallId: 'd1' };
  await store.runs.beginChild({ child, parent, now: Date.now() });
  const rows = (await lines()).filter(({ type }) => type === 'row');
  expect(rows.filter(({ sessionId }) => sessionId === 'mine')).toHaveLength(102);
  expect(rows).toContainEqual({
    type: 'row',
    sessionId: child.sessionId.replace(session.id, 'mine'),
    row: expect.objectContaining({ role: 'user', parts: [{ type: 'text', text: 'do d1' }] }),
  });
});

it("an export has all conversations, and of the trail the person's own acts alone", async () => {
  const { stores, store } = await start();
  for (let n = 0; n < 50; n += 1) {
    const { id, begin } = drive(stores, toStoredSessionId(`more-${String(n)}`, 'acme'));
    await begin({ ...owner, now: 1 });
    await store.owners.fold(id);
  }
  for (let n = 0; n <= LIMITS.auditPage + 1; n += 1) {
    const act = toAct('stop', { by: n === 0 ? 'bob' : 'ann' }, { tenant: 'acme', owner: 'ann' });
    await store.audit.record(act, {});
  }
  const found = await lines();
  expect(found.filter(({ type }) => type === 'conversation')).toHaveLength(51);
  expect(found[0]).toMatchObject({
    type: 'conversation',
    sessionId: 'mine',
    title: 'hello from u0',
  });
  const acts = found.filter(({ type }) => type === 'audit');
  const entry = expect.objectContaining({ action: 'stop' }) as unknown;
  expect(acts).toContainEqual({ type: 'audit', n: 2, entry });
  expect(acts).not.toContainEqual(expect.objectContaining({ n: 1 }));
});

it('an export has the state of the agent and what is queued', async () => {
  const { store, session } = await start();
  const { version } = await store.documents.readState(session.id);
  await store.documents.save(session.id, { customState: { likes: 'tea' }, version });
  await session.begin({ ...owner, messages: [userMessage('q1', 'and then?')], policy: 'queue' });
  const found = await lines();
  expect(found).toContainEqual({ type: 'state', sessionId: 'mine', state: { likes: 'tea' } });
  expect(found.find(({ type }) => type === 'queued')).toMatchObject({
    sessionId: 'mine',
    mode: 'queue',
    rows: [{ id: 'q1', parts: [{ text: 'and then?' }] }],
  });
});
