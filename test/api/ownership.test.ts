import { randomUUID } from 'node:crypto';
import { ROUTES } from '../support/all-routes.js';
import type { Route } from '../../api/routes/route.js';
import { toStoredSessionId } from '../../ai-sdk/index.js';
import { ROLES } from '../../protocol/actor.js';
import { formatChildSessionId } from '../../protocol/ids.js';
import type { MemoryStores } from '../../store/memory/index.js';
import { describedBody } from '../support/described-body.js';
import { drive, newCall, type SessionDriver } from '../support/session-driver.js';
import { readUser, startOnMemory, type ApiServer } from './api-server.js';
import { ASKED, ASKED_BY_OPERATORS, OF_NO_SESSION } from './route-requests.js';

/** Every route on real stores, requested by the owner of a session, by others, and for sub-agents. */
let stores: MemoryStores;
let api: ApiServer;
let session: SessionDriver;
let fileId: string;

/** The stored id of a tenant's session. */
const MINE = toStoredSessionId('mine', 'acme');

async function open(): Promise<void> {
  const server = await startOnMemory({
    authenticate: (request) => {
      const caller = readUser(request);
      const [until, lives] = [request.get('x-until'), request.get('x-lives')];
      const expiresAt = lives === undefined ? Number(until) : Date.now() + Number(lives);
      return caller && { ...caller, ...((until ?? lives) !== undefined && { expiresAt }) };
    },
  });
  [api, stores] = [server, server.stores];
}

async function begin(storedId: string): Promise<void> {
  session = drive(stores, storedId);
  const added = await stores.store.files.add({
    sessionId: storedId,
    owner: 'ann',
    tenant: 'acme',
    content: Buffer.from('a'),
    file: { id: randomUUID(), mediaType: 'image/png', sha256: 'x', at: 1 },
    limits: { files: 9, bytes: 9 },
  });
  fileId = added.kind === 'added' ? added.file.id : '';
  const begun = await session.newRun({ owner: 'ann', tenant: 'acme' });
  await session.ask(begun.runId, 1, [
    newCall('c1', 'approval', { deadlineMs: 60_000 }),
    newCall('c2', 'client'),
  ]);
}
const aboutSessions = ROUTES.filter(({ id }) => id in ASKED);
const reads = new Set(['followChat', 'followChatStream']);
/** They create a session that does not exist. */
const beginning = new Set(['postChat', 'postChatSession', 'startAgent', 'uploadFile']);

async function ask(route: Route, sessionId: string, user: string): Promise<Answered> {
  const { query = '', body } = ASKED[route.id]?.(sessionId) ?? {};
  const path = route.path
    .replace(':sessionId', sessionId)
    .replace(':fileId', fileId)
    .replace(':toolCallId', route.id === 'leaseCall' ? 'c2' : 'c1');
  const isJsonBody = body !== undefined && !(body instanceof Blob);
  const leave = new AbortController();
  const response = await fetch(api.url + path + query, {
    method: route.method.toUpperCase(),
    headers: {
      ...(user !== '' && { 'x-user': user }),
      ...(isJsonBody && { 'content-type': 'application/json' }),
      'x-resume-from-sequence': '0',
    },
    ...(body !== undefined && { body: body instanceof Blob ? body : JSON.stringify(body) }),
    signal: leave.signal,
  });
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  const text = isJson ? await response.text() : '';
  leave.abort();
  const code = text === '' ? undefined : (JSON.parse(text) as { code?: string }).code;
  return { status: response.status, code, headers: response.headers, text };
}

const STRANGERS = [
  'bob@acme',
  // The same name in another tenant, and in none.
  'ann@other',
  'ann',
  `col@acme@${ROLES.join(',')}`,
];

interface Answered {
  status: number;
  code: string | undefined;
  headers: Headers;
  text: string;
}

const picture = async (): Promise<string> =>
  JSON.stringify([
    await stores.store.sessions.view(session.id),
    await stores.store.sessions.view('copy'),
    await stores.store.sessions.view(toStoredSessionId('copy', 'acme')),
    await stores.store.files.list(session.id),
  ]);

it('the table of requests has every route', () => {
  const named = [
    ...Object.keys(ASKED),
    ...Object.keys(ASKED_BY_OPERATORS),
    ...OF_NO_SESSION,
  ].sort();
  expect(named).toEqual(ROUTES.map(({ id }) => id).sort());
});

describe.each(aboutSessions.map((route) => [route.id, route] as const))('%s', (id, route) => {
  beforeAll(async () => {
    await open();
    await begin(MINE);
  });

  it('others learn nothing and change nothing', async () => {
    const before = await picture();
    for (const user of STRANGERS) {
      // The id of another tenant's session is free, and using it reveals nothing.
      const isFree = beginning.has(id) && ['ann', 'ann@other'].includes(user);
      const unknown = isFree ? await ask(route, 'unknown', user) : undefined;
      const answered = await ask(route, 'mine', user);
      const refused = reads.has(id) ? [204, undefined] : [404, 'not_found'];
      const expected = unknown === undefined ? refused : [unknown.status, unknown.code];
      expect([user, answered.status, answered.code]).toEqual([user, ...expected]);
      if (unknown === undefined) expect(answered.headers.get('x-run-id')).toBeNull();
      expect(answered.text).not.toMatch(/tester|ann|acme|approval/);
    }
    const unnamed = await ask(route, 'mine', '');
    expect(unnamed).toMatchObject({ status: 401, code: 'unauthorized' });
    const isInPath = route.path.includes(':sessionId');
    expect(unnamed.headers.get('x-session-id')).toBe(isInPath ? 'mine' : null);
    // The session of a sub-agent is not addressable, not even by the owner.
    const child = await ask(route, formatChildSessionId('mine', 1, 'abc'), 'ann@acme');
    expect(child).toMatchObject({ status: 400, code: 'validation_error' });
    expect(await picture()).toBe(before);
  });

  it('the owner is served', async () => {
    const answered = await ask(route, 'mine', 'ann@acme');
    // Every reply names its session, refusals too.
    const isOfCopy = id === 'branchChat';
    expect(answered.headers.get('x-session-id')).toBe(isOfCopy ? 'copy' : 'mine');
    expect(answered.headers.get('x-run-id')).toEqual(isOfCopy ? null : expect.any(String));
    if (answered.status >= 400) expect(WELL_REFUSED[id]).toBe(answered.code);
    else expect(route.replies[answered.status]).toBeDefined();
    // No cache keeps what only this caller may see; a file that has not changed is not sent again.
    expect(answered.headers.get('cache-control')).toMatch(
      KEPT[id] ?? /^no-(store|cache)$|^no-cache, no-transform$/,
    );
    if (answered.text === '') return;
    // The reply matches the document.
    describedBody(route, answered.status).parse(JSON.parse(answered.text));
  });
});

describe('sessions of tenants', () => {
  beforeEach(open);

  const startAs = (user: string, sessionId = 'mine'): Promise<Response> =>
    api.post('/api/agent/start', { sessionId, message: 'hi', agent: 'tester' }, { 'x-user': user });

  it('tenants do not share session ids, and replies show the ids that clients chose', async () => {
    await begin(MINE);
    for (const user of ['ann@other', 'ann', 'bob@third']) {
      const started = await startAs(user);
      expect(started.status).toBe(202);
      expect(await started.json()).toMatchObject({ sessionId: 'mine', streamId: 'mine' });
    }
    const status = await api.get('/api/agent/status?sessionId=mine', { 'x-user': 'ann@acme' });
    expect(await status.json()).toMatchObject({ sessionId: 'mine', status: 'waiting_approval' });
    const waiting = await api.get('/api/sessions', { 'x-user': 'ann@acme' });
    expect(await waiting.json()).toMatchObject({ sessions: [{ sessionId: 'mine' }] });
    const events = await api.get('/api/agent/sse?sessionId=mine', { 'x-user': 'ann@acme' });
    const reader = events.body?.getReader();
    const text = new TextDecoder().decode((await reader?.read())?.value);
    await reader?.cancel();
    expect(text).toContain('"agentId":"mine"');
    // A refusal shows the client's id as well.
    const busy = await startAs('bob@third');
    expect([busy.status, JSON.stringify(await busy.json())]).toEqual([
      409,
      expect.not.stringContaining('~'),
    ]);
  });
});

describe('the end of a token', () => {
  const completion = { messages: [{ role: 'user', content: 'hi' }], model: 'tester' };
  /** What the reply says of it; nothing: it is cut, and its reader reconnects. */
  const RESYNC = /"type":"data-stream-resync".*"type":"error"/s;
  const requests: [path: string, says: RegExp | undefined, body?: object][] = [
    ['/api/chat/mine/events', undefined],
    ['/api/agent/sse?sessionId=mine', undefined],
    ['/api/chat/active', RESYNC],
    ['/api/chat/active/stream', RESYNC],
    [
      '/api/chat/other',
      RESYNC,
      { messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'hi' }] }] },
    ],
    [
      '/api/ag-ui/tester',
      /"type":"RUN_ERROR"/,
      {
        threadId: 'third',
        runId: 'r1',
        messages: [{ id: 'u1', role: 'user', content: 'hi' }],
        state: {},
        tools: [],
        context: [],
        forwardedProps: {},
      },
    ],
    ['/v1/chat/completions', /"error":.*broke off/, { ...completion, stream: true }],
    ['/v1/chat/completions', undefined, completion],
  ];
  /** All replies end at the same time. */
  let replies: Promise<string>[];

  beforeAll(async () => {
    await open();
    await begin(MINE);
    const start = { sessionId: 'active', message: 'hi', agent: 'tester' };
    await api.post('/api/agent/start', start, { 'x-user': 'ann@acme' });
    replies = requests.map(async ([path, , body]) => {
      const response = await fetch(api.url + path, {
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
        headers: {
          'x-user': 'ann@acme',
          'x-lives': '500',
          'x-resume-from-sequence': '0',
          'content-type': 'application/json',
        },
      });
      return response.text();
    });
    await Promise.allSettled(replies);
  });

  it.each(requests.map(([path, says], nth) => ({ path, says, nth })))(
    'is the end of the reply of $path, which says $says',
    async ({ says, nth }) => {
      if (says === undefined)
        await expect(replies[nth]).rejects.toThrow(/^(terminated|fetch failed)$/);
      else await expect(replies[nth]).resolves.toMatch(says);
    },
  );

  it.each([0, NaN])('a token whose time is %d is refused', async (until) => {
    const headers = { 'x-user': 'ann@acme', 'x-until': String(until) };
    expect((await api.get('/api/sessions', headers)).status).toBe(401);
  });
});

const KEPT: Record<string, RegExp | undefined> = { getFile: /^private, no-cache$/ };

/** Refusals of the owner's own requests in this state of the session. */
const WELL_REFUSED: Record<string, string | undefined> = {
  editQueue: 'not_found',
  retryChat: 'agent_already_running',
};
