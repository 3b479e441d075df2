import { drive } from '../support/session-driver.js';
import { greets, say, startApi, type ApiServer } from './api-server.js';

const LONG = 'i'.repeat(300);
const big = 'x'.repeat(1024 * 1024 + 1);
const hello = [say('u1', 'hello')];

const REFUSED = '400 validation_error';
const STOP = '/api/chat/s1/stop';
const user = (parts: unknown): object => ({ messages: [{ id: 'u1', role: 'user', parts }] });
const FILE = { type: 'file', url: 'http://169.254.169.254/', mediaType: 'text/plain' };

/** Posted to a chat unless the request has another path; refused by `400 validation_error` unless it says otherwise. */
const refusals: [
  name: string,
  body: unknown,
  refusal?: string,
  request?: { path?: string; method?: string; headers?: Record<string, string> },
][] = [
  ['malformed JSON', '{"messages": ['],
  ['null', 'null'],
  ['JSON that is not an object', '"hello"'],
  ['an array', []],
  ['no body', ''],
  ['no messages', {}],
  ['messages of a wrong type', { messages: 'hi' }],
  ['a message of a wrong type', { messages: [1] }],
  [
    'a message without an id',
    { messages: [{ role: 'user', parts: [{ type: 'text', text: 'x' }] }] },
  ],
  ['a message of an unknown role', { messages: [{ id: 'u1', role: 'tool', parts: [] }] }],
  ['a message id that is too long', { messages: [say('u'.repeat(257), 'x')] }],
  ['parts of a wrong type', user('hi')],
  ['text that is not a string', user([{ type: 'text', text: 7 }])],
  ['a message without content', user([{ type: 'text', text: '' }])],
  ["a server's id on a user message", { messages: [say('msg-1', 'x')] }],
  ['one id on two messages', { messages: [say('u1', 'x'), say('u1', 'y')] }],
  ['parts that are not objects', user(['x'])],
  ['a file from a host that is not allowed', user([FILE])],
  ['a file of this machine', user([{ ...FILE, url: 'file:///etc/passwd' }])],
  ['an empty list of messages', { messages: [] }, '400 nothing_to_do'],
  [
    'an assistant message without answers',
    { messages: [{ id: 'msg-1', role: 'assistant', parts: [] }] },
    '400 nothing_to_do',
  ],
  [
    'a message of the system',
    { messages: [{ ...say('u1', 'x'), role: 'system' }] },
    '400 nothing_to_do',
  ],
  ['another id in the body', { id: 'other', messages: hello }],
  ...['a%20b', 'a%2Fb', '%7Ba%7D', 'a%0Ab', 'a%00b', '%E0%A4%A', '%C0%80'].map(
    (id): (typeof refusals)[number] => [
      `the session id ${id}`,
      { messages: hello },
      REFUSED,
      { path: `/api/chat/${id}` },
    ],
  ),
  [
    'a session id that is too long',
    { messages: hello },
    REFUSED,
    { path: `/api/chat/${'s'.repeat(129)}` },
  ],
  ['no session id', { messages: hello }, REFUSED, { path: '/api/chat' }],
  ['no agent', { messages: hello }, '400 agent_required'],
  [
    'an unknown agent of the agent server',
    { agent: 'unknown', message: 'x' },
    '400 agent_not_found',
    { path: '/api/agent/start' },
  ],
  ['an unknown agent', { agent: 'unknown', messages: hello }, '400 agent_not_found'],
  ...['unknown', '__proto__', 'constructor'].map((agent): (typeof refusals)[number] => [
    `the agent ${agent} in the query`,
    { messages: hello },
    '400 agent_not_found',
    { path: `/api/chat/s1?agent=${agent}` },
  ]),
  ...[
    'agent=lab&agent=lab',
    'agent=lab&busy=queue&busy=steer',
    'agent=lab&busy=__proto__',
    'agent=lab&busy=',
  ].map((query): (typeof refusals)[number] => [
    `the query ${query}`,
    { messages: hello },
    REFUSED,
    { path: `/api/chat/s1?${query}` },
  ]),
  [
    'an agent whose name is too long',
    { messages: hello },
    '400 agent_not_found',
    { path: `/api/chat/s1?agent=${LONG}` },
  ],
  [
    'a call id that is too long',
    { approved: true },
    REFUSED,
    { path: `/api/chat/s1/pending/${LONG}` },
  ],
  [
    'a checkpoint id that is too long',
    { checkpointId: LONG },
    REFUSED,
    { path: '/api/chat/s1/retry' },
  ],
  [
    'a session id that is too long to start an agent',
    { sessionId: LONG, message: 'x' },
    REFUSED,
    { path: '/api/agent/start' },
  ],
  [
    'a result for a call id that is too long',
    { sessionId: 's1', toolCallId: LONG, result: 1 },
    REFUSED,
    { path: '/api/agent/submit-tool-result' },
  ],
  ...['offset=-1', 'offset=1e99', 'limit=0', 'limit=1.5', 'limit=99999999999', 'offset=NaN'].map(
    (page): (typeof refusals)[number] => [
      `messages by ${page}`,
      undefined,
      REFUSED,
      { method: 'GET', path: `/api/chat/s1/messages?${page}` },
    ],
  ),
  [
    'a message that is too large',
    { agent: 'lab', messages: [say('u1', big)] },
    '413 message_too_large',
  ],
  [
    'a message that is too large, before another, to start an agent',
    { agent: 'lab', input: [{ content: big }, { content: 'x' }] },
    '413 message_too_large',
    { path: '/api/agent/start' },
  ],
  [
    'an unknown charset',
    { messages: hello },
    '415 unsupported_media_type',
    { headers: { 'content-type': 'application/json; charset=klingon' } },
  ],
  [
    'an unknown encoding',
    { messages: hello },
    '415 unsupported_media_type',
    { headers: { 'content-encoding': 'zip' } },
  ],
  [
    'bytes that are not compressed',
    { messages: hello },
    REFUSED,
    { headers: { 'content-encoding': 'gzip' } },
  ],
  ...[
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'text/html',
    'application/json; charset=utf-7',
    'nonsense',
  ].map((type): (typeof refusals)[number] => [
    `a body of the type ${type}`,
    { messages: hello },
    '415 unsupported_media_type',
    { headers: { 'content-type': type } },
  ]),
  // The default type of curl. Unread, this would be another kind of stop.
  [
    'JSON under the type of a form',
    { mode: 'abort' },
    '415 unsupported_media_type',
    { path: STOP, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
  ],
  ['an unknown path', {}, '404 not_found', { path: '/api/nothing' }],
  ['another method', { messages: hello }, '404 not_found', { method: 'PUT' }],
  ['a stop of a wrong kind', { mode: 'kill' }, REFUSED, { path: STOP }],
  ['a stop of nothing', {}, '404 not_found', { path: STOP }],
];

describe('bad input', () => {
  let api: ApiServer;
  const begun: string[] = [];
  beforeAll(async () => {
    api = await startApi({ play: (_, sessionId) => Promise.resolve(void begun.push(sessionId)) });
  });

  it.each(refusals)(
    '%s is refused',
    async (
      _name,
      body,
      refusal = REFUSED,
      { path = '/api/chat/s1', method = 'POST', headers } = {},
    ) => {
      const response = await fetch(api.url + path, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(method !== 'GET' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      expect(response.headers.get('content-type')).toContain('application/json');
      const { error, code } = (await response.json()) as { error: unknown; code: string };
      expect(error).not.toMatch(/node_modules|\.js:|\.ts:/);
      expect(`${String(response.status)} ${code}`).toBe(refusal);
      expect(error).toEqual(expect.any(String));
      expect(begun).toEqual([]);
    },
  );

  it('a GET of a malformed session id is refused, of an unknown one it gets 204', async () => {
    expect((await api.get('/api/chat/a%20b')).status).toBe(400);
    expect((await api.get('/api/chat/unknown')).status).toBe(204);
    expect((await api.get('/api/chat/unknown/stream')).status).toBe(204);
    expect((await api.get('/api/chat/unknown/snapshot')).status).toBe(404);
  });
});

describe('unusual input', () => {
  let api: ApiServer;
  beforeAll(async () => {
    api = await startApi({ play: greets, defaultAgent: 'lab' });
  });

  it('a post may have a single message, the session id in the body, and plain content', async () => {
    const message = { id: 'u1', role: 'user', content: 'hi' };
    const response = await api.post('/api/chat', { id: 'one', message });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-session-id')).toBe('one');
    expect(response.headers.get('x-run-id')).toMatch(/^one:1-/);
    expect(await response.text()).toContain('Hello.');
  });

  it('a post may have a text as its message, which is a new one each time', async () => {
    for (const shown of [2, 4]) {
      const response = await api.post('/api/chat/text', { message: 'hi' });
      expect(response.status).toBe(200);
      expect(await response.text()).toContain('Hello.');
      const rows = await drive(api.stores, 'text').rows();
      expect(rows).toHaveLength(shown);
      expect(rows.at(-2)).toMatchObject({ role: 'user', parts: [{ type: 'text', text: 'hi' }] });
    }
    const empty = await api.post('/api/chat/text', { message: '' });
    expect(empty.status).toBe(400);
    await empty.text();
  });

  it('a post may have JSON as text/plain, as the workflow transport sends it', async () => {
    const type = { 'content-type': 'text/plain;charset=UTF8' };
    const response = await api.post('/api/chat/two', { messages: hello }, type);
    expect(response.status).toBe(200);
    await response.text();
  });

  it.each([
    ['a byte order mark', '\uFEFF', {}],
    ['an empty encoding', '', { 'content-encoding': '' }],
  ])('a post may have %s', async (name, before, headers) => {
    const response = await fetch(`${api.url}/api/chat/${name.replaceAll(' ', '-')}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: before + JSON.stringify({ messages: hello }),
    });
    expect(response.status).toBe(200);
    await response.text();
  });

  it('metadata that is too large is dropped and its message is kept', async () => {
    const metadata = { note: 'x'.repeat(70_000) };
    const response = await api.post('/api/chat/three', {
      messages: [{ ...say('u1', 'hi'), metadata }],
    });
    expect(response.status).toBe(200);
    await response.text();
    expect(await drive(api.stores, 'three').rows(0, 1)).toEqual([
      {
        role: 'user',
        id: 'u1',
        parts: [{ type: 'text', text: 'hi' }],
      },
    ]);
  });

  it('names of prototypes are names like any other, of conversations too', async () => {
    for (const id of ['__proto__', 'constructor', 'toString']) {
      const body =
        '{"__proto__":{"agent":"other"},"constructor":{"prototype":{"x":1}},"message":{"id":"__proto__",' +
        '"role":"user","content":"hi","metadata":{"__proto__":{"y":1},"constructor":{"prototype":{"y":1}}}}}';
      const response = await api.post(`/api/chat/${id}`, body);
      expect(response.status).toBe(200);
      expect(await response.text()).toContain('Hello.');
      expect(({} as Record<string, unknown>)['y']).toBeUndefined();
    }
  });

  it('cursors in headers that are no numbers are refused or ignored', async () => {
    await (await api.post('/api/chat/cursors', { messages: hello })).text();
    for (const value of ['-1', '1e9', '99999999999999999999', 'NaN', '0x10', '1, 2', ' ', '%00']) {
      const headers = { 'x-resume-from-sequence': value, 'last-event-id': value };
      const response = await api.get('/api/chat/cursors', headers);
      await response.text();
      expect(response.status).toBeLessThan(500);
    }
  });

  it('other content under an accepted message id is refused', async () => {
    await (await api.post('/api/chat/four', { messages: [say('u1', 'hi')] })).text();
    const response = await api.post('/api/chat/four', { messages: [say('u1', 'ho')] });
    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({ code: 'message_conflict' });
    expect(response.headers.get('x-run-id')).toMatch(/^four:1-/);
  });
});
