import { createFakeRuntime } from '../support/fake-runtime.js';
import { say, startApi, type ApiServer } from './api-server.js';

const big = 'x'.repeat(1024 * 1024 + 1);
const hello = [say('u1', 'hello')];

interface Refusal {
  name: string;
  path?: string;
  body: unknown;
  status: number;
  code: string;
  headers?: Record<string, string>;
}

const refusals: Refusal[] = [
  { name: 'malformed JSON', body: '{"messages": [', status: 400, code: 'validation_error' },
  { name: 'JSON that is not an object', body: '"hello"', status: 400, code: 'validation_error' },
  { name: 'an array', body: [], status: 400, code: 'validation_error' },
  { name: 'no body', body: '', status: 400, code: 'validation_error' },
  { name: 'no messages', body: {}, status: 400, code: 'validation_error' },
  {
    name: 'messages of a wrong type',
    body: { messages: 'hi' },
    status: 400,
    code: 'validation_error',
  },
  {
    name: 'a message of a wrong type',
    body: { messages: [1] },
    status: 400,
    code: 'validation_error',
  },
  {
    name: 'a message without an id',
    body: { messages: [{ role: 'user', parts: [{ type: 'text', text: 'x' }] }] },
    status: 400,
    code: 'validation_error',
  },
  {
    name: 'a message of an unknown role',
    body: { messages: [{ id: 'u1', role: 'tool', parts: [] }] },
    status: 400,
    code: 'validation_error',
  },
  {
    name: 'a message id that is too long',
    body: { messages: [say('u'.repeat(257), 'x')] },
    status: 400,
    code: 'validation_error',
  },
  {
    name: 'parts of a wrong type',
    body: { messages: [{ id: 'u1', role: 'user', parts: 'hi' }] },
    status: 400,
    code: 'validation_error',
  },
  {
    name: 'text that is not a string',
    body: { messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 7 }] }] },
    status: 400,
    code: 'validation_error',
  },
  {
    name: 'a message without content',
    body: { messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: '' }] }] },
    status: 400,
    code: 'validation_error',
  },
  {
    name: "a server's id on a user message",
    body: { messages: [say('msg-1', 'x')] },
    status: 400,
    code: 'validation_error',
  },
  {
    name: 'one id on two messages',
    body: { messages: [say('u1', 'x'), say('u1', 'y')] },
    status: 400,
    code: 'validation_error',
  },
  {
    name: 'a file from a host that is not allowed',
    body: {
      messages: [
        {
          id: 'u1',
          role: 'user',
          parts: [{ type: 'file', url: 'http://169.254.169.254/', mediaType: 'text/plain' }],
        },
      ],
    },
    status: 400,
    code: 'validation_error',
  },
  { name: 'an empty list of messages', body: { messages: [] }, status: 400, code: 'nothing_to_do' },
  {
    name: 'an assistant message without answers',
    body: { messages: [{ id: 'msg-1', role: 'assistant', parts: [] }] },
    status: 400,
    code: 'nothing_to_do',
  },
  {
    name: 'another id in the body',
    body: { id: 'other', messages: hello },
    status: 400,
    code: 'validation_error',
  },
  {
    name: 'a session id with a space',
    path: '/api/chat/a%20b',
    body: { messages: hello },
    status: 400,
    code: 'validation_error',
  },
  {
    name: 'a session id that is too long',
    path: `/api/chat/${'s'.repeat(129)}`,
    body: { messages: hello },
    status: 400,
    code: 'validation_error',
  },
  {
    name: 'no session id',
    path: '/api/chat',
    body: { messages: hello },
    status: 400,
    code: 'validation_error',
  },
  { name: 'no agent', body: { messages: hello }, status: 400, code: 'agent_required' },
  {
    name: 'an unknown agent',
    body: { agent: 'unknown', messages: hello },
    status: 400,
    code: 'agent_not_found',
  },
  {
    name: 'an unknown agent in the query',
    path: '/api/chat/s1?agent=unknown',
    body: { messages: hello },
    status: 400,
    code: 'agent_not_found',
  },
  {
    name: 'a message that is too large',
    body: { agent: 'lab', messages: [say('u1', big)] },
    status: 413,
    code: 'message_too_large',
  },
  {
    name: 'an unknown charset',
    body: { messages: hello },
    headers: { 'content-type': 'application/json; charset=klingon' },
    status: 415,
    code: 'unsupported_media_type',
  },
  {
    name: 'an unknown encoding',
    body: { messages: hello },
    headers: { 'content-encoding': 'zip' },
    status: 415,
    code: 'unsupported_media_type',
  },
  // The default type of curl. Unread, this would be another kind of stop.
  {
    name: 'JSON under the type of a form',
    path: '/api/chat/s1/stop',
    body: { mode: 'abort' },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    status: 415,
    code: 'unsupported_media_type',
  },
  { name: 'an unknown path', path: '/api/nothing', body: {}, status: 404, code: 'not_found' },
  {
    name: 'a stop of a wrong kind',
    path: '/api/chat/s1/stop',
    body: { mode: 'kill' },
    status: 400,
    code: 'validation_error',
  },
  {
    name: 'a stop of nothing',
    path: '/api/chat/s1/stop',
    body: {},
    status: 404,
    code: 'not_found',
  },
];

describe('bad input', () => {
  let api: ApiServer;
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api.close());

  it.each(refusals)(
    '$name is refused with $status $code',
    async ({ path = '/api/chat/s1', body, status, code, headers }) => {
      const response = await api.post(path, body, headers);
      expect(response.status).toBe(status);
      expect(response.headers.get('content-type')).toContain('application/json');
      expect(await response.json()).toMatchObject({ error: expect.any(String), code });
      expect(api.runtime.sessions.size).toBe(0);
    },
  );

  it('a body over 16 MB is refused with 413 body_too_large', async () => {
    const body = JSON.stringify({ agent: 'lab', messages: hello, x: 'x'.repeat(16 * 1024 * 1024) });
    const response = await api.post('/api/chat/s1', body);
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: 'body_too_large' });
    expect(api.runtime.sessions.size).toBe(0);
  });

  it('a GET of a malformed session id is refused, of an unknown one it gets 204', async () => {
    expect((await api.get('/api/chat/a%20b')).status).toBe(400);
    expect((await api.get('/api/chat/unknown')).status).toBe(204);
    expect((await api.get('/api/chat/unknown/stream')).status).toBe(204);
    expect((await api.get('/api/chat/unknown/snapshot')).status).toBe(404);
  });
});

describe('unusual input', () => {
  const play = createFakeRuntime(async (session) => {
    session.step();
    session.say('Hello.');
    session.commit();
    session.end();
    await Promise.resolve();
  });
  let api: ApiServer;
  beforeAll(async () => {
    api = await startApi(play, { defaultAgent: 'lab' });
  });
  afterAll(() => api.close());

  it('a post may have a single message, the session id in the body, and plain content', async () => {
    const message = { id: 'u1', role: 'user', content: 'hi' };
    const response = await api.post('/api/chat', { id: 'one', message });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-session-id')).toBe('one');
    expect(response.headers.get('x-run-id')).toBe('one:1-abc');
    expect(await response.text()).toContain('Hello.');
  });

  it('a post may have a text as its message, which is a new one each time', async () => {
    for (const shown of [2, 4]) {
      const response = await api.post('/api/chat/text', { message: 'hi' });
      expect(response.status).toBe(200);
      expect(await response.text()).toContain('Hello.');
      const rows = api.runtime.sessions.get('text')?.rows ?? [];
      expect(rows).toHaveLength(shown);
      expect(rows.at(-2)).toMatchObject({ role: 'user', parts: [{ type: 'text', text: 'hi' }] });
    }
    const empty = await api.post('/api/chat/text', { message: '' });
    expect(empty.status).toBe(400);
    await empty.text();
  });

  it('a post may have JSON as text/plain, as the workflow transport sends it', async () => {
    const type = { 'content-type': 'text/plain;charset=UTF-8' };
    const response = await api.post('/api/chat/two', { messages: hello }, type);
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
    expect(api.runtime.sessions.get('three')?.rows[0]).toEqual({
      role: 'user',
      id: 'u1',
      parts: [{ type: 'text', text: 'hi' }],
    });
  });

  it('other content under an accepted message id is refused', async () => {
    await (await api.post('/api/chat/four', { messages: [say('u1', 'hi')] })).text();
    const response = await api.post('/api/chat/four', { messages: [say('u1', 'ho')] });
    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({ code: 'message_conflict' });
    expect(response.headers.get('x-run-id')).toBe('four:1-abc');
  });

  it('a message for another agent than the session’s is refused', async () => {
    await (await api.post('/api/chat/five', { messages: hello })).text();
    const response = await api.post('/api/chat/five', {
      agent: 'support',
      messages: [say('u2', 'hi')],
    });
    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({ code: 'agent_mismatch' });
  });
});
