import { newSessionId, useProduct } from '../support/product.js';

const product = useProduct();

const JSON_TYPE = { 'content-type': 'application/json' };
const says = (content: unknown, more: object = {}): string =>
  JSON.stringify({ message: { id: 'u1', role: 'user', content, ...more } });

interface BadRequest {
  name: string;
  /** `$` stands for the session id. */
  path?: string;
  method?: string;
  body?: string;
  headers?: Record<string, string>;
  status?: number;
  code?: string;
}

const requests: BadRequest[] = [
  { name: 'no JSON', body: '{"message":' },
  { name: 'JSON that is no object', body: '[]' },
  { name: 'a bare string', body: '"hello"' },
  { name: 'null', body: 'null' },
  { name: 'nothing', body: '' },
  { name: 'no messages', body: '{}' },
  { name: 'messages that are not a list', body: '{"messages":"hello"}' },
  { name: 'an empty list of messages', body: '{"messages":[]}', code: 'nothing_to_do' },
  { name: 'a message without an id', body: '{"message":{"role":"user","content":"x"}}' },
  { name: 'a message with an empty id', body: says('x', { id: '' }) },
  { name: 'a message with a number for an id', body: says('x', { id: 7 }) },
  { name: 'a message with an id without end', body: says('x', { id: 'i'.repeat(5_000) }) },
  { name: 'a message with an id of ours', body: says('x', { id: 'msg-1' }) },
  { name: 'a message of an unknown role', body: says('x', { role: 'root' }) },
  { name: 'a message of the system', body: says('x', { role: 'system' }), code: 'nothing_to_do' },
  { name: 'a message without text', body: says('') },
  { name: 'text of another type', body: says({ toString: 'x' }) },
  { name: 'parts that are not objects', body: says(undefined, { parts: ['x'] }) },
  { name: 'a part without text', body: says(undefined, { parts: [{ type: 'text' }] }) },
  {
    name: 'a file of this machine',
    body: says(undefined, {
      parts: [{ type: 'file', url: 'file:///etc/passwd', mediaType: 'text/plain' }],
    }),
  },
  {
    name: 'a file of a host that is not allowed',
    body: says(undefined, {
      parts: [{ type: 'file', url: 'http://127.0.0.1/x', mediaType: 'text/plain' }],
    }),
  },
  {
    name: 'two messages of one id',
    body: JSON.stringify({
      messages: ['a', 'b'].map((content) => ({ id: 'u1', role: 'user', content })),
    }),
  },
  {
    name: 'an agent that is not there',
    body: says('x'),
    path: '$?agent=unknown',
    code: 'agent_not_found',
  },
  {
    name: 'an agent by prototype',
    body: says('x'),
    path: '$?agent=__proto__',
    code: 'agent_not_found',
  },
  {
    name: 'an agent by constructor',
    body: says('x'),
    path: '$?agent=constructor',
    code: 'agent_not_found',
  },
  { name: 'two agents', body: says('x'), path: '$?agent=lab&agent=support' },
  { name: 'another session in the body', body: says('x').replace('{', '{"id":"other",') },
  { name: 'a session id with a slash', body: says('x'), path: 'a%2Fb' },
  { name: 'a session id with a brace', body: says('x'), path: '%7Ba%7D' },
  { name: 'a session id with a line feed', body: says('x'), path: 'a%0Ab' },
  { name: 'a session id with a broken escape', body: says('x'), path: '%E0%A4%A' },
  { name: 'a session id without end', body: says('x'), path: 'a'.repeat(129) },
  { name: 'no session id', body: says('x'), path: '' },
  {
    name: 'a large message',
    body: says('x'.repeat(2 << 20)),
    status: 413,
    code: 'message_too_large',
  },
  { name: 'a larger body', body: says('x'.repeat(17 << 20)), status: 413, code: 'body_too_large' },
  {
    name: 'an unknown encoding',
    body: says('x'),
    headers: { 'content-encoding': 'rot13' },
    status: 415,
    code: 'unsupported_media_type',
  },
  {
    name: 'bytes that are not compressed',
    body: says('x'),
    headers: { 'content-encoding': 'gzip' },
  },
  {
    name: 'an unknown charset',
    body: says('x'),
    headers: { 'content-type': 'application/json; charset=x' },
    status: 415,
    code: 'unsupported_media_type',
  },
  {
    name: 'a form',
    body: 'message=x',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    status: 415,
    code: 'unsupported_media_type',
  },
  { name: 'a stop of an unknown kind', body: '{"mode":"gently"}', path: '$/stop' },
  { name: 'a stop of nothing', body: '{}', path: '$/stop', status: 404, code: 'not_found' },
  {
    name: 'a snapshot of nothing',
    method: 'GET',
    path: '$/snapshot',
    status: 404,
    code: 'not_found',
  },
  { name: 'another method', method: 'PUT', body: says('x'), status: 404, code: 'not_found' },
  { name: 'another path', body: says('x'), path: '$/nowhere', status: 404, code: 'not_found' },
];

/** Names of all conversations; what earlier files left there may still be written. */
async function stored(): Promise<Set<string>> {
  const keys = await product.redis.keys('hx:{*');
  return new Set(keys.map((key) => key.slice(0, key.indexOf('}'))));
}

describe('bad input', () => {
  it.each(requests)('$name is refused, and nothing is stored', async (bad) => {
    const { url } = product;
    const sessionId = newSessionId();
    const before = await stored();
    const { path = '$', method = 'POST', body, status = 400, code = 'validation_error' } = bad;
    const response = await fetch(`${url}/api/chat/${path.replace('$', sessionId)}`, {
      method,
      headers: { ...JSON_TYPE, ...bad.headers },
      ...(method !== 'GET' && { body: body ?? '' }),
    });
    const problem = (await response.json()) as Record<string, unknown>;
    expect({ status: response.status, code: problem['code'] }).toEqual({ status, code });
    expect(typeof problem['error']).toBe('string');
    expect(JSON.stringify(problem)).not.toMatch(/node_modules|\.js:|\.ts:/);
    expect([...(await stored())].filter((name) => !before.has(name))).toEqual([]);
    const [due = ''] = await product.redis.keys('hx:due:*:urgent');
    expect(await product.redis.zscore(due, sessionId)).toBeNull();
  });

  it('input with keys of prototypes changes nothing for others', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const body =
      '{"__proto__":{"agent":"lab"},"constructor":{"prototype":{"x":1}},' +
      '"message":{"id":"__proto__","role":"user","content":"hi","metadata":{"__proto__":{"y":1}}}}';
    const response = await fetch(`${url}/api/chat/${sessionId}?agent=lab`, {
      method: 'POST',
      headers: JSON_TYPE,
      body,
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('data: [DONE]');
    const snapshot = await fetch(`${url}/api/chat/${sessionId}/snapshot`);
    expect(await snapshot.json()).toMatchObject({ status: 'ended' });
  });

  it('a session with the name of a prototype is answered like any other', async () => {
    for (const sessionId of ['__proto__', 'constructor', 'toString']) {
      const response = await fetch(`${product.url}/api/chat/${sessionId}?agent=lab`, {
        method: 'POST',
        headers: JSON_TYPE,
        body: says('hi'),
      });
      expect(response.status).toBe(200);
      expect(await response.text()).toContain('data: [DONE]');
    }
  });

  it('a request of another site is refused without accounts', async () => {
    const response = await fetch(`${product.url}/api/chat/${newSessionId()}?agent=lab`, {
      method: 'POST',
      headers: { ...JSON_TYPE, 'sec-fetch-site': 'cross-site' },
      body: says('hi'),
    });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ code: 'unauthorized' });
  });
});
