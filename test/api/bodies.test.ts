import { gzipSync } from 'node:zlib';
import { LIMITS } from '../../protocol/limits.js';
import { createFakeRuntime } from '../support/fake-runtime.js';
import { connectRaw } from '../support/raw-http.js';
import { say, startApi, type ApiServer } from './api-server.js';
import { createGreeter, head, MB } from './posted-json.js';

let api: ApiServer;
let closed: ApiServer;
beforeAll(async () => {
  api = await startApi(createGreeter(), { defaultAgent: 'lab' });
  closed = await startApi(createFakeRuntime(), {
    authenticate: () => undefined,
    limits: { requestsPerMinute: 0, openStreams: 0 },
  });
});
afterAll(() => Promise.all([api.close(), closed.close()]));

describe('a body that is too large', () => {
  it('a body is refused by its declared length before any of it arrives', async () => {
    const connection = await connectRaw(api.url);
    connection.send(head(`content-length: ${String(40 * MB)}`));
    const { status, body, headers } = await connection.reply;
    expect([status, JSON.parse(body)]).toEqual([
      413,
      expect.objectContaining({ code: 'body_too_large' }),
    ]);
    expect(headers.toLowerCase()).toContain('connection: close');
    await connection.closed;
  });

  it('a body that is too large is not read to its end while its sender continues', async () => {
    const connection = await connectRaw(api.url);
    connection.send(head(`content-length: ${String(40 * MB)}`));
    for (let n = 0; n < 40; n += 1) connection.send(Buffer.alloc(MB, ' '));
    expect((await connection.reply).status).toBe(413);
    await connection.closed;
    // The bytes that were still read, and those in the buffers of the kernel.
    expect(connection.taken()).toBeLessThan(16 * MB);
  });

  it('a body without a declared length is refused as soon as it is too large', async () => {
    const connection = await connectRaw(api.url);
    connection.send(head('transfer-encoding: chunked'));
    const chunk = Buffer.concat([
      Buffer.from('100000\r\n'),
      Buffer.alloc(MB, ' '),
      Buffer.from('\r\n'),
    ]);
    for (let n = 0; n < 40; n += 1) connection.send(chunk);
    const { status, body } = await connection.reply;
    expect([status, JSON.parse(body)]).toEqual([
      413,
      expect.objectContaining({ code: 'body_too_large' }),
    ]);
    await connection.closed;
    expect(connection.taken()).toBeLessThan(36 * MB);
  });

  it('a compressed body is refused if it is too large when decompressed', async () => {
    const response = await fetch(`${api.url}/api/chat/s1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: gzipSync(Buffer.alloc(40 * MB, ' ')),
    });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: 'body_too_large' });
  });

  it('the body of a stranger is not read', async () => {
    const connection = await connectRaw(closed.url);
    connection.send(head(`content-length: ${String(15 * MB)}`));
    const { status, body } = await connection.reply;
    expect([status, JSON.parse(body)]).toEqual([
      401,
      expect.objectContaining({ code: 'unauthorized' }),
    ]);
    await connection.closed;
  });
});

describe('a body that is accepted', () => {
  const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    fetch(`${api.url}/api/chat/${crypto.randomUUID()}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });

  it('a body may be a long conversation, of which only the end is used', async () => {
    const old = {
      id: 'old',
      role: 'assistant',
      parts: [{ type: 'text', text: 'x'.repeat(8 * MB) }],
    };
    const response = await post(JSON.stringify({ messages: [old, say('u1', 'hi')] }));
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('Hello.');
  });

  it('a conversation is checked from its last reply on', async () => {
    const unread = [1, {}, say('u0', ''), { id: 'a0', role: 'unknown' }];
    const reply = { id: 'a1', role: 'assistant', parts: [{ type: 'text', text: 'Hi.' }] };
    const response = await post(JSON.stringify({ messages: [...unread, reply, say('u1', 'hi')] }));
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('Hello.');
  });

  it('a body with too many new messages is refused', async () => {
    const messages = Array.from({ length: LIMITS.newMessages + 1 }, (_, n) =>
      say(`u${String(n)}`, 'hi'),
    );
    const response = await post(JSON.stringify({ messages }));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'validation_error' });
  });

  it('a body with too many members is refused in a short text', async () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`k${String(n)}`, n]));
    const response = await post(JSON.stringify({ ...many, messages: [say('u1', 'hi')] }));
    expect(response.status).toBe(400);
    expect((await response.text()).length).toBeLessThan(500);
  });

  it('a body may be compressed', async () => {
    const packed = new Uint8Array(gzipSync(JSON.stringify({ messages: [say('u1', 'hi')] })));
    const response = await post(packed, { 'content-encoding': 'gzip' });
    expect(response.status).toBe(200);
    await response.text();
  });

  it('a refused body leaves the connection open for the next request', async () => {
    const connection = await connectRaw(api.url);
    const bad = '{"messages":';
    connection.send(head(`content-length: ${String(bad.length)}`) + bad);
    const { status, headers } = await connection.reply;
    expect(status).toBe(400);
    expect(headers.toLowerCase()).not.toContain('connection: close');
    connection.socket.destroy();
  });
});

describe('malformed requests', () => {
  it.each([
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['a line feed in a header', 'GET / HTTP/1.1\r\nhost: a\r\nx-a: b\nc\r\n\r\n', 400],
    ['headers without end', `GET / HTTP/1.1\r\nhost: a\r\nx-a: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
    ['two hosts', 'GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\nconnection: close\r\n\r\n', 400],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
      400,
    ],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
      400,
    ],
  ])('%s gets a typed refusal', async (_name, bytes, expected) => {
    const connection = await connectRaw(api.url);
    connection.send(bytes);
    const { status, body } = await connection.reply;
    expect(status).toBe(expected);
    expect(JSON.parse(body)).toEqual({ error: expect.any(String), code: 'validation_error' });
    await connection.closed;
  });
});
