import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { Request } from 'express';
import fc from 'fast-check';
import {
  createJsonMeter,
  parseWellFormed,
  type JsonBounds,
} from '../../api/middleware/json-body.js';
import { readBody } from '../../api/middleware/read-body.js';
import { LIMITS } from '../../protocol/limits.js';
import { connectRaw } from '../support/raw-http.js';
import { greets, say, startApi, type ApiServer } from './api-server.js';

const MB = 1024 * 1024;

/** The head of a request that posts JSON. */
const head = (...lines: string[]): string =>
  [
    'POST /api/chat/s1 HTTP/1.1',
    'host: test',
    'content-type: application/json',
    ...lines,
    '',
    '',
  ].join('\r\n');

let api: ApiServer;
let closed: ApiServer;
beforeAll(async () => {
  api = await startApi({ play: greets, defaultAgent: 'lab' });
  closed = await startApi({
    authenticate: () => undefined,
    limits: { requestsPerMinute: 0, openStreams: 0 },
  });
});

describe('a body that is too large', () => {
  it.concurrent('a body is refused by its declared length before any of it arrives', async () => {
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

  it.concurrent(
    'a body that is too large is not read to its end while its sender continues',
    async () => {
      const connection = await connectRaw(api.url);
      connection.send(head(`content-length: ${String(40 * MB)}`));
      for (let n = 0; n < 40; n += 1) connection.send(Buffer.alloc(MB, ' '));
      expect((await connection.reply).status).toBe(413);
      await connection.closed;
      // The bytes that were still read, and those in the buffers of the kernel.
      expect(connection.taken()).toBeLessThan(16 * MB);
    },
  );

  it.concurrent(
    'a body without a declared length is refused as soon as it is too large',
    async () => {
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
    },
  );

  it.concurrent('a compressed body is refused if it is too large when decompressed', async () => {
    const response = await fetch(`${api.url}/api/chat/s1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: gzipSync(Buffer.alloc(40 * MB, ' ')),
    });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: 'body_too_large' });
  });

  it.concurrent('the body of a stranger is not read', async () => {
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
])('malformed requests %s gets a typed refusal', async (_name, bytes, expected) => {
  const connection = await connectRaw(api.url);
  connection.send(bytes);
  const { status, body } = await connection.reply;
  expect(status).toBe(expected);
  expect(JSON.parse(body)).toEqual({ error: expect.any(String), code: 'validation_error' });
  await connection.closed;
});

describe('JSON', () => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const post = (metadata: string, headers: Record<string, string> = {}): Promise<Response> =>
    api.post(
      `/api/chat/${crypto.randomUUID()}`,
      `{"messages":[{"id":"u1","role":"user","content":"hi","metadata":{"a":${metadata}}}]}`,
      headers,
    );

  it.each([LIMITS.jsonDepth, 10_000, 2_000_000])(
    'JSON that is nested %d deep is refused',
    async (depth) => {
      const response = await post(nested(depth));
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        code: 'validation_error',
        error: 'The request body is nested too deeply.',
      });
    },
  );

  it('JSON of the greatest depth is accepted', async () => {
    const response = await post(nested(LIMITS.jsonDepth - 4));
    expect(response.status).toBe(200);
    await response.text();
  });

  it.concurrent('JSON with too many values is refused long before its end', async () => {
    const connection = await connectRaw(api.url);
    connection.send(head(`content-length: ${String(15 * MB)}`));
    connection.send(`{"messages":[${'1,'.repeat(LIMITS.jsonValues)}`);
    const { status, body } = await connection.reply;
    expect([status, JSON.parse(body)]).toEqual([
      413,
      { error: 'The request body has too many JSON values.', code: 'body_too_large' },
    ]);
    await connection.closed;
  });

  it('JSON with the greatest number of values is accepted', async () => {
    // The body, its list, the message with four, and the metadata.
    const response = await post(`[${'1,'.repeat(LIMITS.jsonValues - 9)}1]`);
    expect(response.status).toBe(200);
    await response.text();
  });

  it.each(['', '["never closed [[[['])(
    'a text that is no JSON has no depth of its own: %j',
    (text) => {
      expect(findExcess(Buffer.from(text), { depth: 1, values: 2 }, 100)).toBeUndefined();
    },
  );

  it.each([1, 2, 3, 7, 100])(
    'JSON in pieces of %d bytes has the depth and values of the whole',
    (size) => {
      const anyJson = fc.jsonValue({ maxDepth: 5 });
      const check = (value: unknown, space: number): void => {
        const json = Buffer.from(JSON.stringify(value, undefined, space));
        const values = countValues(value);
        expect(findExcess(json, { depth: 100, values }, size)).toBeUndefined();
        expect(findExcess(json, { depth: 100, values: values - 1 }, size)).toBe('values');
        const depth = depthOf(value);
        expect(findExcess(json, { depth, values }, size)).toBeUndefined();
        if (depth > 0) expect(findExcess(json, { depth: depth - 1, values }, size)).toBe('depth');
      };
      for (const hard of ['"', '\\', '\\"', '[{,:}]', ['\\', '[['], { '"': ['\\'] }, {}, [[], {}]])
        check(hard, 0);
      fc.assert(fc.property(anyJson, fc.nat(2), check));
    },
  );
});

/** The bound that a text in pieces exceeds, if any. */
function findExcess(json: Buffer, bounds: JsonBounds, size: number): string | undefined {
  const measure = createJsonMeter(bounds);
  for (let at = 0; at < json.length; at += size) {
    const excess = measure(json.subarray(at, at + size));
    if (excess !== undefined) return excess;
  }
  return undefined;
}

function membersOf(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}

function countValues(value: unknown): number {
  return membersOf(value).reduce<number>((sum, inner) => sum + countValues(inner), 1);
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...membersOf(value).map(depthOf));
}

describe('lone surrogates', () => {
  it('lone surrogates of any JSON are replaced as toWellFormed does, in names too', () => {
    const unit = fc.constantFrom(
      '\ud83d',
      '\ude00',
      '\\',
      '"',
      'u',
      'd',
      '8',
      '0',
      '\ud7ff',
      '\ue000',
    );
    const anyText = fc.string({ unit, maxLength: 12 });
    fc.assert(
      fc.property(fc.dictionary(anyText, fc.array(anyText)), (value) => {
        const expected = Object.fromEntries(
          Object.entries(value).map(([key, texts]) => [
            key.toWellFormed(),
            texts.map((text) => text.toWellFormed()),
          ]),
        );
        expect(parseWellFormed(escapeAll(JSON.stringify(value)))).toEqual(expected);
      }),
    );
  });

  it.each([
    [String.raw`"\uD800"`, '\ufffd'],
    [String.raw`"\\ud800"`, String.raw`\ud800`],
    [String.raw`"\\\udfff"`, '\\\ufffd'],
    [String.raw`[[{"a": "\ud83d\ude00\ude00"}]]`, [[{ a: '\u{1f600}\ufffd' }]]],
    [String.raw`{"__proto__": {"\ud800": 1}}`, JSON.parse('{"__proto__": {"\ufffd": 1}}')],
  ])('%s becomes %j', (json, expected) => {
    expect(parseWellFormed(json)).toStrictEqual(expected);
  });
});

/** The same JSON with every character above U+007F as an escape. */
function escapeAll(json: string): string {
  return json.replace(
    /[\u0080-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

it.each(['before', 'during'])(
  'a compressed body whose sender leaves %s the reading is refused',
  async (when) => {
    const headers = { 'content-encoding': 'gzip', 'content-length': '9' };
    const stream = new PassThrough();
    const request = Object.assign(stream, { headers }) as unknown as Request;
    if (when === 'before') await once(stream.destroy(), 'close');
    const read = readBody(request, MB);
    stream.destroy();
    await expect(read).rejects.toMatchObject({ code: 'validation_error' });
  },
);
