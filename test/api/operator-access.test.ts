import type { Client } from '@temporalio/client';
import { toStoredSessionId, type Authorize } from '../../ai-sdk/index.js';
import { OPEN_API, ROUTES } from '../support/all-routes.js';
import { hasSecond, requireSecondOperator } from '../../api/operator-access.js';
import type { Route } from '../../api/routes/route.js';
import type { Identity } from '../../api/identity.js';
import type { Role } from '../../protocol/actor.js';
import type { HelixError } from '../../protocol/errors.js';
import { workflowIdOf } from '../../protocol/ids.js';
import { WORKFLOW_TYPE } from '../../protocol/temporal.js';
import type { AuditEntry, DualRequest } from '../../store/contract/audit.js';
import type { MemoryStores } from '../../store/memory/index.js';
import { toAct } from '../../runs/record/acts.js';
import { describedBody } from '../support/described-body.js';
import { drive, newCall, userMessage, type SessionDriver } from '../support/session-driver.js';
import { startOnMemory, type ApiServer } from './api-server.js';
import { FAKE_DELIVERIES } from './fake-deliveries.js';
import { withSchedules } from '../extensions/schedules/fake-schedules.js';
import { ASKED_BY_OPERATORS } from './route-requests.js';

/** Every route of operators, requested with each role, in the session's tenant and in others. */
let stores: MemoryStores;
let api: ApiServer;
let session: SessionDriver;
let runId: string;
/** The pseudonym of a colleague of the tenant who was erased. */
let sealed: string;
let authorize: Authorize | undefined;

/** What stands in the conversation, and in nothing else that is stored. */
const SECRET = 'xyzzy';

/** Temporal lists the run to its tenant alone. */
const isListed = (query: string): boolean =>
  query.startsWith("AgentTenant = 'acme'") &&
  /AgentStatus = 'waiting|^(?!.*AgentStatus)/.test(query);
const workflowService = {
  countWorkflowExecutions: async ({ query }: { query: string }) => ({
    count: isListed(query) ? 1 : 0,
  }),
  listWorkflowExecutions: async ({ query }: { query: string }) => ({
    executions: isListed(query) ? [toExecution(workflowIdOf(runId))] : [],
    nextPageToken: new Uint8Array(),
  }),
};
const toExecution = (workflowId: string) => ({
  execution: { workflowId },
  type: { name: WORKFLOW_TYPE },
  startTime: { seconds: 1 },
  searchAttributes: { indexedFields: { AgentTenant: { data: Buffer.from('"acme"') } } },
});
const TEMPORAL = {
  taskQueue: 'runs',
  searchAttributes: true,
  client: {
    options: { namespace: 'default' },
    connection: { withDeadline: (_ms: number, call: () => unknown) => call() },
    workflowService,
  } as unknown as Client,
};

async function start(): Promise<void> {
  const server = await startOnMemory({
    runs: {
      temporal: TEMPORAL,
      extensions: [{ name: 'receivers', deliveries: () => FAKE_DELIVERIES }],
    },
    extensions: withSchedules(),
    authorize,
  });
  [api, stores] = [server, server.stores];
  session = drive(stores, toStoredSessionId('mine', 'acme'));
  const messages = [userMessage('u1', `${SECRET} is asked`)];
  const begun = await session.newRun({ owner: 'ann', tenant: 'acme', messages });
  ({ runId } = begun);
  const writer = session.writer(runId, 1, 1);
  await session.claim(writer);
  await session.say(writer, 1, SECRET);
  const call = newCall('c1', 'approval', { deadlineMs: 60_000, input: { of: SECRET } });
  await session.commit(writer, { calls: [call] });
  // Another operator has asked for the name.
  const { audit } = stores.store;
  const [exported] = await audit.record(toAct('export', { by: 'eva' }, { tenant: 'acme' }), {});
  await audit.forget('acme', 'eva');
  sealed = exported?.actor ?? '';
  await audit.ask('acme', { action: 'open', subject: sealed, by: 'zoe' });
}

beforeEach(() => {
  authorize = undefined;
});

async function ask(
  route: Route,
  user: string,
  { about = 'mine', run = runId, key = '' } = {},
): Promise<{ status: number; code: string | undefined; text: string; cache: string | null }> {
  const { body } = ASKED_BY_OPERATORS[route.id] ?? {};
  const path = route.path
    .replace(':sessionId', about)
    .replace(':toolCallId', 'c1')
    .replace(':receiver', 'ops')
    .replace(':name', 'daily')
    .replace(':agent', 'tester')
    .replace(':step', '1')
    .replace(':userId', 'ann')
    .replace(':pseudonym', sealed)
    .replace(':runId', encodeURIComponent(run));
  const response = await fetch(api.url + path, {
    method: route.method.toUpperCase(),
    headers: {
      'x-user': user,
      ...(body && { 'content-type': 'application/json' }),
      ...(key !== '' && { 'idempotency-key': key }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json;') ?? false;
  const { code } = isJson ? (JSON.parse(text) as { code?: string }) : {};
  return { status: response.status, code, text, cache: response.headers.get('cache-control') };
}

const picture = async (): Promise<string> =>
  JSON.stringify(await stores.store.sessions.view(session.id));

const routes = ROUTES.filter(({ id }) => id in ASKED_BY_OPERATORS);

/** The least role that a route needs, where it is not viewer for a read and operator for an act. */
const NEEDS: Record<string, Role> = {
  answerTenantCall: 'approver',
  extendTenantDeadline: 'approver',
  listAudit: 'operator',
  verifyAudit: 'operator',
  exportAudit: 'operator',
  openSealedName: 'operator',
  exportPerson: 'operator',
};
const RANK = ['', 'viewer', 'approver', 'operator'];

function byId(id: string): Route {
  const route = routes.find((each) => each.id === id);
  if (route === undefined) throw new Error(`no route ${id}`);
  return route;
}

describe.each(routes.map((route) => [route.id, route] as const))('%s', (id, route) => {
  const isListed = !/:(sessionId|runId)/.test(route.path);
  const needed = RANK.indexOf(NEEDS[id] ?? (route.method === 'get' ? 'viewer' : 'operator'));

  it('serves colleagues by role, and finds no session in another tenant', async () => {
    await start();
    for (const [rank, role] of RANK.entries()) {
      // An act is done once to a conversation.
      if (rank > needed && route.method !== 'get') {
        await api.close();
        await start();
      }
      const before = await picture();
      if (rank >= needed) await expectServed(role);
      else {
        await expectRefused(role);
        expect(await picture()).toBe(before);
      }
      await expectUnknownElsewhere(role);
    }
  });

  async function expectServed(role: string): Promise<void> {
    const user = `col@acme@${role}`;
    const answered = await ask(route, user, { key: `k-${role}` });
    expect([role, answered.status < 300]).toEqual([role, true]);
    const { content } = route.replies[answered.status] ?? {};
    if (content !== undefined && 'json' in content) {
      describedBody(route, answered.status).parse(JSON.parse(answered.text));
    }
    if (route.method === 'get') expect(answered.cache).toBe('no-store');
    // With the same key, what is asked of another conversation is another request.
    const other = { about: 'unknown', run: 'unknown:1-abc', key: `k-${role}` };
    if (!isListed) expect((await ask(route, user, other)).status).toBe(404);
  }

  async function expectRefused(role: string): Promise<void> {
    const answered = await ask(route, `col@acme@${role}`, { key: `k-${role}` });
    const isStranger = role === '' && !isListed;
    expect([role, answered.status, answered.code]).toEqual(
      isStranger ? [role, 404, 'not_found'] : [role, 403, 'not_allowed'],
    );
    // Which role would do; strangers do not learn that there is something.
    expect(answered.text.includes('This needs the role')).toBe(!isStranger);
  }

  /** A colleague of the same name has sent the request with the same key. */
  async function expectUnknownElsewhere(role: string): Promise<void> {
    const before = await picture();
    for (const tenant of ['other', '']) {
      const user = `col@${tenant}@${role}`;
      const answered = await ask(route, user, { key: `k-${role}` });
      const unknown = await ask(route, user, {
        about: 'unknown',
        run: 'unknown:1-abc',
        key: `k-${role}`,
      });
      expect([role, answered.status, answered.code]).toEqual([role, unknown.status, unknown.code]);
      if (!isListed) expect(answered).toMatchObject({ status: 404, code: 'not_found' });
      // The names of agents are no tenant's.
      const ofTenant = /listAgents|createSchedule/.test(id)
        ? /\b(ann|acme|c1)\b/
        : /\b(tester|ann|acme|c1)\b/;
      expect(answered.text).not.toMatch(ofTenant);
    }
    expect(await picture()).toBe(before);
  }
});

describe('the rule of a host', () => {
  it('it replaces the roles, and sees the session and the call', async () => {
    const seen: unknown[] = [];
    authorize = ({ userId }, action, subject) => {
      seen.push([action, subject]);
      return userId === 'col' && action !== 'stop';
    };
    await start();
    expect(await ask(byId('stopRun'), 'col@acme@operator')).toMatchObject({ status: 403 });
    expect(await ask(byId('answerTenantCall'), 'bob@acme@operator')).toMatchObject({ status: 404 });
    expect(await ask(byId('answerTenantCall'), 'col@acme@')).toMatchObject({ status: 202 });
    const about = { sessionId: 'mine', owner: 'ann', tenant: 'acme', agent: 'tester' };
    expect(seen).toContainEqual([
      'answer',
      { session: about, call: expect.objectContaining({ toolCallId: 'c1', kind: 'approval' }) },
    ]);
  });

  it("it may keep the owner from answering, and cannot open another tenant's sessions", async () => {
    authorize = ({ userId }) => userId !== 'ann';
    await start();
    const own = { 'x-user': 'ann@acme' };
    const answered = await api.post('/api/chat/mine/pending/c1', { approved: true }, own);
    expect([answered.status, await answered.json()]).toMatchObject([403, { code: 'not_allowed' }]);
    const snapshot = await api.get('/api/chat/mine/snapshot', own);
    expect(await snapshot.json()).toMatchObject({ pending: [{ mayDecide: false }] });
    expect(await ask(byId('readTenantSession'), 'bob@other@')).toMatchObject({ status: 404 });
  });

  it('it may keep a session out of the list of what waits', async () => {
    authorize = (_caller, _action, subject) => subject.session === undefined;
    await start();
    const listed = await ask(byId('listTenantWaiting'), 'col@acme@operator');
    expect([listed.status, JSON.parse(listed.text)]).toEqual([200, { sessions: [] }]);
  });
});

it('an agent is paused over all tenants by callers without a tenant only', async () => {
  await start();
  const pause = (user: string, everywhere: boolean, agent = 'tester'): Promise<Response> =>
    api.post(`/api/operator/agents/${agent}/pause`, { everywhere }, { 'x-user': user });
  expect((await pause('col@acme@operator', true)).status).toBe(403);
  expect((await pause('col@acme@operator', false)).status).toBe(200);
  expect((await pause('root@@operator', true)).status).toBe(200);
  expect((await pause('root@@operator', true, 'unknown')).status).toBe(400);
  const seenBy = async (user: string): Promise<object> => {
    const reply = await api.get('/api/operator/agents', { 'x-user': user });
    return ((await reply.json()) as { agents: [{ pauses: object }] }).agents[0].pauses;
  };
  const at = expect.any(Number);
  expect(await seenBy('col@acme@viewer')).toEqual([
    { everywhere: false, at, by: 'col' },
    { everywhere: true, at },
  ]);
  expect(await seenBy('eve@other@viewer')).toEqual([{ everywhere: true, at }]);
});

it('an agent that was removed while it was paused is listed until it is resumed', async () => {
  await start();
  const gone = { agent: 'gone', everywhere: false, tenant: 'acme', at: 1, by: 'col' };
  await stores.store.pauses.of('test').set(gone);
  const listed = async (user: string): Promise<string[]> => {
    const reply = await api.get('/api/operator/agents', { 'x-user': user });
    return ((await reply.json()) as { agents: { name: string }[] }).agents.map(({ name }) => name);
  };
  const resume = async (user: string): Promise<number> =>
    (await api.post('/api/operator/agents/gone/unpause', {}, { 'x-user': user })).status;
  expect(await listed('eve@other@operator')).toEqual(['tester']);
  expect(await resume('eve@other@operator')).toBe(400);
  expect(await listed('col@acme@operator')).toEqual(['tester', 'gone']);
  expect(await resume('col@acme@operator')).toBe(200);
  expect(await listed('col@acme@operator')).toEqual(['tester']);
});

it('a stop is of the run that the operator has named, also if another one begins meanwhile', async () => {
  await start();
  const { sessions } = stores.store;
  const { read } = sessions;
  sessions.read = async (id) => {
    const found = await read(id);
    sessions.read = read;
    await session.end(runId, 'completed');
    await session.newRun({ owner: 'ann', tenant: 'acme', messages: [userMessage('u2')] });
    return found;
  };
  const { status, text } = await ask(byId('stopRun'), 'col@acme@operator');
  expect([status, JSON.parse(text)]).toMatchObject([202, { result: 'nothing' }]);
  expect(await read(session.id)).toMatchObject({ status: 'starting' });
  // From now on each act would be on the other run.
  for (const id of ['stopRun', 'resumeRun', 'retryRun']) {
    const late = await ask(byId(id), 'col@acme@operator');
    expect([id, JSON.parse(late.text)]).toMatchObject([id, { code: 'stale_run' }]);
  }
});

it('an act that is sent again with its key gets the first reply, and is not carried out again', async () => {
  await start();
  const extend = async (user: string, byMs: number, key: string): Promise<unknown[]> => {
    const path = '/api/operator/waiting/mine/c1/extend';
    const headers = { 'x-user': `${user}@acme@approver`, 'idempotency-key': key };
    const response = await api.post(path, { byMs }, headers);
    const { deadline, code } = (await response.json()) as { deadline?: number; code?: string };
    return [response.status, deadline ?? code];
  };
  const first = await extend('col', 1_000, 'k1');
  expect(first).toEqual([202, expect.any(Number)]);
  expect(await extend('col', 1_000, 'k1')).toEqual(first);
  const later = (Number(first[1]) || 0) + 1_000;
  expect(await extend('bob', 1_000, 'k1')).toEqual([202, later]);
  expect(await extend('col', 1_000, 'k2')).toEqual([202, later + 1_000]);
  expect(await extend('col', 2_000, 'k2')).toEqual([409, 'idempotency_conflict']);
  expect(await extend('col', 1_000, ' ')).toEqual([400, 'validation_error']);
});

/** What the OpenAPI document says of each operation, by its id. */
const documented = new Map(
  Object.values(OPEN_API.paths ?? {})
    .flatMap((item) => Object.values(item) as Record<string, unknown>[])
    .map((operation) => [operation['operationId'], operation['x-audit']] as const),
);

it('the document says of each route what it leaves in the trail', () => {
  expect(documented.size).toBe(ROUTES.length);
  for (const [id, kind] of documented)
    expect([id, kind]).toEqual([id, expect.stringMatching(/^(read|act|none)$/)]);
  for (const { id, path, method } of ROUTES) {
    // What an operator changes is an act; of what changes nothing there are few that show nothing either.
    const isHarmless = /^(listAgents|listReceivers|listWorkers|encodePayloads)$/;
    if (path.startsWith('/api/operator/') && !isHarmless.test(id)) {
      const kind = method === 'get' || id === 'decodePayloads' ? 'read' : 'act';
      expect([id, documented.get(id)]).toEqual([id, kind]);
    }
  }
});

const recorded = async (): Promise<AuditEntry[]> => {
  await stores.store.audit.relay(session.id);
  const { entries } = await stores.store.audit.page('acme', { limit: 50 });
  return entries.map(({ entry }) => entry).filter(({ roles }) => roles?.includes('operator'));
};

it.each(routes.map((route) => [route.id, documented.get(route.id), route] as const))(
  '%s leaves in the trail what the document says: %s',
  async (id, kind, route) => {
    await start();
    if (route.id === 'resumeRun') await ask(byId('stopRun'), 'ann@acme');
    const before = (await recorded()).length;
    const { status } = await ask(route, 'col@acme@operator');
    expect([id, status < 300]).toEqual([id, true]);
    const left = (await recorded()).slice(0, -before || undefined);
    expect(left.length > 0).toBe(kind !== 'none');
    if (kind === 'read') expect(left[0]?.action).toMatch(/^(read|export)$/);
    expect(JSON.stringify(left)).not.toMatch(/xyzzy|"ann"/);
    await stores.store.audit.forget('acme', 'col');
    const sealed = await stores.store.audit.unseal('acme', left[0]?.actor ?? '');
    expect(sealed).toBe(kind === 'none' ? undefined : 'col');
    // Who reads the own conversation is of no interest.
    const ofOwn = /:(sessionId|runId)/.test(route.path) && kind === 'read';
    if (!ofOwn) return;
    await ask(route, 'ann@acme@operator');
    expect(await recorded()).toHaveLength(before + left.length);
  },
);

it("a colleague's reads of what runs ask are recorded, once in an hour", async () => {
  await start();
  const another = await drive(stores, toStoredSessionId('another', 'acme')).newRun({
    owner: 'ann',
    tenant: 'acme',
  });
  const runs = [runId, another.runId].map((id) => `/api/operator/runs/${encodeURIComponent(id)}`);
  const paths = [...runs, '/api/operator/waiting'];
  for (const user of ['ann@acme@viewer', 'col@acme@viewer', 'col@acme@viewer']) {
    for (const path of paths) expect((await api.get(path, { 'x-user': user })).status).toBe(200);
  }
  const { entries } = await stores.store.audit.page('acme', { limit: 10, action: 'read' });
  expect(
    entries.map(({ entry, name }) => [name, entry.target.sessionId, entry.detail]).reverse(),
  ).toEqual([
    ['ann', undefined, { what: 'listTenantWaiting' }],
    ['col', 'mine', { what: 'getRun' }],
    ['col', 'another', { what: 'getRun' }],
    ['col', undefined, { what: 'listTenantWaiting' }],
  ]);
});

it.each<[string, object, object, boolean]>([
  ['another operator', { by: 'olga' }, { by: 'otto' }, true],
  ['the same one again', { by: 'olga' }, { by: 'olga' }, false],
  ['the same one as a guest of this tenant', { by: 'olga' }, { by: 'other-tenant:hq|olga' }, false],
  [
    'another account of the same person',
    { by: 'a1', personId: 'p' },
    { by: 'a2', personId: 'p' },
    false,
  ],
  [
    'another person of that name',
    { by: 'olga', personId: 'p' },
    { by: 'other-tenant:hq|olga', personId: 'q' },
    true,
  ],
  [
    'a guest of that name from no tenant',
    { by: 'olga', personId: 'p' },
    { by: 'other-tenant:|olga', personId: 'q' },
    true,
  ],
  ['one who asked for another person', { by: 'olga', subject: 'bob' }, { by: 'otto' }, false],
  ['one who asked for another act', { by: 'olga', action: 'open' }, { by: 'otto' }, false],
])('%s: is it a second person?', (_who, first, second, isSecond) => {
  const request = { action: 'forget', subject: 'ann', by: '', until: 1 } as const;
  expect(hasSecond([{ ...request, ...first }], { ...request, ...second }, 'acme')).toBe(isSecond);
});

describe('a request that takes two operators', () => {
  const asked: DualRequest = { action: 'forget', subject: 'ann', by: 'olga', until: 1 };

  /** Sends a request to erase ann as olga, of whom `known` is what was asked before. */
  async function send(known: DualRequest[], caller: Partial<Identity> = {}) {
    const noted: unknown[] = [];
    const ask = async (_: unknown, of: DualRequest) => void noted.push(of.personId ?? of.by);
    const record = async () => [];
    const audit = { asked: async () => known, ask, record };
    const call = {
      deps: { stateStore: { audit }, logger: { info: () => undefined } },
      request: { get: () => undefined },
      caller: { userId: 'olga', tenantId: 'acme', ...caller },
    };
    const sent = requireSecondOperator(call as never, { action: 'forget', subject: 'ann' });
    const code = await sent.catch((error: unknown) => (error as HelixError).code);
    return [code, noted];
  }

  it.each([
    ['was not asked', []],
    ['was asked for another person', [{ ...asked, subject: 'bob' }]],
    ['was asked for another act', [{ ...asked, action: 'open' as const }]],
  ])('is noted if it %s', async (_, known) => {
    expect(await send(known)).toEqual(['second_person_required', ['olga']]);
  });

  it('is not noted again, needs no second person without accounts, and knows guests', async () => {
    expect(await send([asked])).toEqual(['second_person_required', []]);
    expect(await send([], { isEveryone: true })).toEqual([undefined, []]);
    const guest = { ...asked, by: 'other-tenant:|olga', personId: 'q' };
    expect(await send([guest], { personId: 'p' })).toEqual([undefined, ['p']]);
  });
});
