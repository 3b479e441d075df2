import { toStoredSessionId } from '../../../ai-sdk/index.js';
import type { AuditReply, SealedName } from '../../../protocol/audit.js';
import type { RunsOfSession } from '../../../runs/erase-workflows.js';
import { HelixError } from '../../../protocol/errors.js';
import { createMemoryStores, type MemoryStores } from '../../../store/memory/index.js';
import { drive, newCall, type SessionDriver } from '../../support/session-driver.js';
import { IDLE_WORKFLOWS } from '../../support/idle-workflows.js';
import {
  readUser,
  startOnMemory,
  type ApiServer,
  type StartOptions,
} from '../../api/api-server.js';

const ANN = { owner: 'ann', tenant: 'acme' };

let stores: MemoryStores;
let api: ApiServer;
let session: SessionDriver;
let isAway: boolean;
let erased: RunsOfSession[];
let forget: () => Promise<void>;

beforeEach(async () => {
  [isAway, erased, forget] = [false, [], () => Promise.resolve()];
  stores = createMemoryStores();
  api = await startOnMemory({
    stores,
    runs: {
      extensions: [{ name: 'own', forget: () => forget() }],
      workflows: {
        ...IDLE_WORKFLOWS,
        erase: async (_, found) => {
          if (isAway) throw new HelixError('unavailable', 'away');
          erased.push(found);
          return { deleted: 1, unknown: [] };
        },
      },
    },
    authenticate: () => ({ userId: 'ida', tenantId: 'acme', roles: ['operator'] }),
  });
  session = drive(stores, toStoredSessionId('mine', 'acme'));
  const begun = await session.newRun(ANN);
  const { runId } = begun;
  await session.ask(runId, 1, [newCall('c1', 'approval')]);
  await stores.store.owners.fold(session.id);
});

async function erase(): Promise<{ status: number; complete?: boolean; conversations?: number }> {
  const response = await fetch(`${api.url}/api/operator/users/ann`, { method: 'DELETE' });
  return { status: response.status, ...((await response.json()) as object) };
}

it('is not complete while histories of an earlier request are left', async () => {
  const { usage } = stores.store;
  const { forget } = usage;
  const forgotten: object[] = [];
  usage.forget = async (who) => {
    forgotten.push(who);
    await forget(who);
  };
  isAway = true;
  expect(await erase()).toMatchObject({ status: 202, complete: false, conversations: 1 });
  // No conversation remains in the list.
  expect(await erase()).toMatchObject({ status: 202, complete: false, conversations: 0 });
  expect(await stores.store.erasures.pending(ANN)).toEqual([session.id]);
  // The sums of usage keep the name until nothing else is left.
  expect(forgotten).toEqual([]);
  isAway = false;
  expect(await erase()).toMatchObject({ status: 200, complete: true });
  expect(forgotten).toEqual([ANN]);
  expect(await erase()).toMatchObject({ status: 200, complete: true, conversations: 0 });
  expect(await stores.store.erasures.pending(ANN)).toEqual([]);
  expect(erased).toHaveLength(1);
});

it('goes on while an extension is away, and tells what it has erased', async () => {
  forget = () => Promise.reject(new HelixError('unavailable', 'away'));
  const some = expect.any(Number) as unknown;
  const sums = { sessions: 1, workflows: 1, rows: some, entries: some, bytes: some };
  expect(await erase()).toEqual({ status: 202, complete: false, conversations: 1, ...sums });
  forget = () => Promise.reject(new HelixError('not_allowed', 'no'));
  expect(await erase()).toMatchObject({ status: 403 });
  forget = () => Promise.resolve();
  expect(await erase()).toMatchObject({ status: 200, complete: true });
});

it('is not complete if the person has begun another conversation meanwhile', async () => {
  const { owners } = stores.store;
  const late = drive(stores, toStoredSessionId('late', 'acme'));
  const { repair } = owners;
  owners.repair = async (who) => {
    await repair(who);
    owners.repair = repair;
    await late.begin(ANN);
    await owners.fold(late.id);
  };
  expect(await erase()).toMatchObject({ status: 202, complete: false, conversations: 1 });
  expect(await erase()).toMatchObject({ status: 200, complete: true, conversations: 1 });
});

it('looks through the conversations of a person only once none is left', async () => {
  const { owners } = stores.store;
  const { page } = owners;
  const repair = jest.spyOn(owners, 'repair');
  const all = await page(ANN, { limit: 1 });
  owners.page = async (who, query) => (query.limit === 1 ? all : page(who, query));
  expect(await erase()).toMatchObject({ status: 202, complete: false, conversations: 1 });
  expect(repair).not.toHaveBeenCalled();
  owners.page = page;
  expect(await erase()).toMatchObject({ status: 200, complete: true });
  expect(repair).toHaveBeenCalledTimes(1);
});

it('names the calls whose work Temporal may not list yet', async () => {
  const runId = (await stores.store.sessions.read(session.id))?.runId;
  expect(await erase()).toMatchObject({ status: 200, complete: true });
  expect(erased).toMatchObject([{ runs: [runId], calls: [[runId, 'c1']] }]);
});

describe('what takes two operators', () => {
  let now: number;
  beforeEach(async () => {
    now = Date.now();
    stores = createMemoryStores({ now: () => now });
    const authenticate: StartOptions['authenticate'] = (request) => {
      const user = readUser(request);
      return user && { ...user, personId: `p-${user.userId}` };
    };
    api = await startOnMemory({ stores, authenticate });
    await drive(stores, toStoredSessionId('mine', 'acme')).begin(ANN);
  });

  const ask = async (user: string, method: string, path: string): Promise<unknown[]> => {
    const [name = '', roles = 'operator', tenant = 'acme'] = user.split(':');
    const headers = { 'x-user': `${name}@${tenant}@${roles}` };
    const response = await fetch(`${api.url}/api${path}`, { method, headers });
    const text = await response.text();
    if (!text.startsWith('{') || path.endsWith('/export')) return [response.status];
    const reply = JSON.parse(text) as { code?: string };
    return [response.status, reply.code ?? reply];
  };
  const trail = async (query = ''): Promise<AuditReply> =>
    (await ask('zoe', 'GET', `/operator/audit?limit=50${query}`))[1] as AuditReply;
  const ALONE = [409, 'second_person_required'];

  it('who acted on others cannot take the own name out of the trail; two operators can open it', async () => {
    expect(await ask('mallory', 'GET', '/operator/sessions/mine')).toContain(200);
    expect(await ask('mallory', 'GET', '/operator/users/ann/export')).toEqual([200]);
    expect(await ask('mallory', 'DELETE', '/me')).toMatchObject([200, { complete: true }]);
    const { entries } = await trail();
    const [forgot] = entries.filter(({ action }) => action === 'forget');
    const pseudonym = forgot?.actor ?? '';
    const hers = entries.filter(({ actor }) => actor === pseudonym);
    expect(hers.map(({ action, name, isSealed }) => [action, name, isSealed])).toEqual(
      ['forget', 'export', 'read'].map((action) => [action, undefined, true]),
    );
    expect((await trail('&actor=mallory')).entries).toEqual([]);

    const path = `/operator/audit/names/${pseudonym}`;
    expect(await ask('vera:viewer', 'POST', path)).toEqual([403, 'not_allowed']);
    expect(await ask('eve:operator:other', 'POST', path)).toEqual([404, 'not_found']);
    for (const again of [1, 2])
      expect([again, ...(await ask('olga', 'POST', path))]).toEqual([again, ...ALONE]);
    expect((await trail()).requests).toEqual([
      { action: 'open', subject: pseudonym, by: 'olga', until: expect.any(Number) },
    ]);
    const opened: [number, SealedName] = [200, { pseudonym, name: 'mallory' }];
    expect(await ask('otto', 'POST', path)).toEqual(opened);
    expect(await ask('olga', 'POST', path)).toEqual(opened);
    const { entries: opens } = await trail('&action=open');
    expect(opens.map(({ name, outcome, target }) => [name, outcome, target.person])).toEqual([
      ['olga', 'asked', pseudonym],
      ['otto', 'asked', pseudonym],
      ['olga', 'requested', pseudonym],
    ]);
    const page = async (more = '') =>
      (await ask('zoe', 'GET', `/operator/audit?limit=1${more}`))[1] as AuditReply;
    const newest = await page();
    const older = await page(`&cursor=${newest.cursor ?? ''}`);
    expect(older).toMatchObject({ entries: [{ n: (newest.entries[0]?.n ?? 0) - 1 }] });
    expect([newest.requests, older.requests]).toEqual([expect.any(Array), undefined]);
    // A request lapses after a day, so each operator has to ask again.
    now += 24 * 60 * 60_000;
    expect(await ask('otto', 'POST', path)).toEqual(ALONE);
  });

  it('a person who acted on others is erased by two operators, or erases what is their own alone', async () => {
    const chief = '/operator/users/chief';
    for (const name of ['chief', 'dora']) await ask(name, 'GET', '/operator/sessions/mine');
    await drive(stores, toStoredSessionId('own', 'acme')).begin({ owner: 'chief', tenant: 'acme' });
    await stores.store.owners.fold(toStoredSessionId('own', 'acme'));
    for (const again of [1, 2])
      expect([again, ...(await ask('mallory', 'DELETE', chief))]).toEqual([again, ...ALONE]);
    expect(await ask('chief', 'GET', '/chat/own/snapshot')).toContain(200);
    // A second operator's request for a different person does not count.
    expect(await ask('olga', 'DELETE', '/operator/users/dora')).toEqual(ALONE);
    expect((await trail()).requests).toMatchObject([
      { action: 'forget', subject: 'chief', by: 'mallory' },
      { action: 'forget', subject: 'dora', by: 'olga' },
    ]);
    const done = [200, { complete: true, conversations: 1 }];
    expect(await ask('olga', 'DELETE', chief)).toMatchObject(done);
    expect(await ask('dora', 'DELETE', '/me')).toMatchObject([200, { complete: true }]);
    const { entries, requests } = await trail();
    expect(requests).toEqual([]);
    expect(
      entries.filter(({ action }) => action === 'forget').map(({ outcome }) => outcome),
    ).toEqual(['done', 'done', 'requested', 'requested']);
    // One operator suffices to erase a person who never acted on others.
    expect(await ask('mallory', 'DELETE', '/operator/users/ann')).toContain(200);
  });
});
