import { allExtensions } from '../../extensions/index.js';
import express, { type Request, type RequestHandler } from 'express';
import { toDecideUrl } from '../../extensions/notify/decide-links.js';
import { hashInput } from '../../protocol/shown-call.js';
import { LIMITS } from '../../protocol/limits.js';
import { say, startOnMemory, type ApiServer } from './api-server.js';

/** Apps of authors, in which something reads the bodies of requests before the API does. */
const KEY = 'k'.repeat(32);
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const CHAT = { messages: [say('u1', 'hi \u{1f44b}')] };

let api: ApiServer | undefined;
let hooked: unknown[];
beforeEach(() => {
  hooked = [];
});

async function serve(...before: RequestHandler[]): Promise<ApiServer> {
  api = await startOnMemory({
    before,
    extensions: allExtensions({
      notify: { receivers: [], publicUrl: 'http://localhost', linkKeys: [KEY] },
    }),
    limits: { requestsPerMinute: 0 },
    instead: {
      callWebhook: (_token, payload) => {
        hooked.push(payload);
        return Promise.resolve();
      },
    },
  });
  return api;
}

/** What a request of each kind of body gets: its status, and a code or a text. */
const ROUTES: Record<string, (url: string) => Promise<[number, string | undefined]>> = {
  'a message': async (url) => {
    const body = JSON.stringify({ ...CHAT, id: crypto.randomUUID() });
    const {
      status,
      headers,
      body: events,
    } = await post(`${url}/api/chat`, 'application/json', body);
    await events?.cancel();
    return [status, headers.get('content-type') ?? undefined];
  },
  'a message as text': async (url) => {
    const body = JSON.stringify({ ...CHAT, id: crypto.randomUUID() });
    const { status, headers, body: events } = await post(`${url}/api/chat`, 'text/plain', body);
    await events?.cancel();
    return [status, headers.get('content-type') ?? undefined];
  },
  'an odd body': async (url) =>
    read(await post(`${url}/api/chat/s1/stop`, 'application/json', '{"mode":"odd"}')),
  'a webhook': async (url) =>
    read(await post(`${url}/api/hooks/t`, 'application/json', '{"a":[1]}')),
  'a form': async (url) => {
    const claims = {
      sub: 'bob',
      roles: [],
      sessionId: 's1',
      runId: 'r1',
      toolCallId: 'c1',
      inputHash: hashInput({}),
    };
    const token = new URL(await toDecideUrl(url, KEY, claims)).searchParams.get('token') ?? '';
    const fields = String(new URLSearchParams({ token, decision: 'approve' }));
    return read(await post(`${url}/api/decide`, 'application/x-www-form-urlencoded', fields));
  },
  'a file': async (url) =>
    read(await post(`${url}/api/chat/f1/files`, 'image/png', new Uint8Array(PNG))),
};

const EXPECTED = {
  'a message': [200, 'text/event-stream; charset=utf-8'],
  'a message as text': [200, 'text/event-stream; charset=utf-8'],
  'an odd body': [400, 'validation_error'],
  'a webhook': [200, 'accepted'],
  'a form': [404, 'not_found'],
  'a file': [201, 'image/png'],
};

function post(
  url: string,
  type: string,
  body: string | Uint8Array<ArrayBuffer>,
): Promise<Response> {
  const headers = { 'content-type': type, 'x-user': 'ann', accept: 'application/json' };
  return fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(60_000) });
}

async function read(reply: Response): Promise<[number, string | undefined]> {
  const fields = (await reply.json()) as { status?: string; code?: string; mediaType?: string };
  return [reply.status, fields.code ?? fields.status ?? fields.mediaType];
}

async function askAll(url: string): Promise<Record<string, unknown>> {
  const asked = Object.entries(ROUTES).map(async ([name, ask]) => [name, await ask(url)]);
  return Object.fromEntries(await Promise.all(asked)) as Record<string, unknown>;
}

/** Bodies, routes and methods as handlers of Next's `pages/api` are given them. */
const nextPages: RequestHandler = async (request, response, next) => {
  const pieces: Buffer[] = [];
  for await (const piece of request.iterator({ destroyOnReturn: false }))
    pieces.push(piece as Buffer);
  const bytes = Buffer.concat(pieces);
  const type = request.get('content-type') ?? '';
  let body: unknown = bytes;
  if (type.startsWith('application/json')) body = JSON.parse(String(bytes));
  else if (type.startsWith('application/x-www-form-urlencoded'))
    body = Object.fromEntries(new URLSearchParams(String(bytes)));
  else if (type.startsWith('text/plain')) body = String(bytes);
  const set = (name: string, value: unknown): void => {
    Object.defineProperty(request, name, {
      value,
      configurable: true,
      enumerable: true,
      writable: true,
    });
  };
  set('body', body);
  set('query', { path: ['chat'] });
  response.status = (code) => {
    response.statusCode = code;
    return response;
  };
  next();
};

/** Express 4 leaves an empty object where it parses nothing. */
const emptyBody: RequestHandler = (request, _response, next) => {
  request.body = {};
  next();
};

const keepRaw = (request: object, _response: unknown, rawBody: Buffer): void => {
  Object.assign(request, { rawBody });
};

it.each<[string, RequestHandler[]]>([
  ['nothing', []],
  ['express.json()', [express.json()]],
  [
    'express.json() and urlencoded(), as Nest',
    [express.json(), express.urlencoded({ extended: true })],
  ],
  ['the parsers of Express 4', [emptyBody, express.json(), express.urlencoded()]],
  ['express.text()', [express.text({ type: () => true })]],
  ['express.raw()', [express.raw({ type: () => true })]],
  [
    'parsers that keep the bytes',
    [express.json({ verify: keepRaw }), express.raw({ type: () => true })],
  ],
  ["Next's pages", [nextPages]],
])('after %s every body is taken', async (name, before) => {
  const { url } = await serve(...before);
  // A picture does not survive as text.
  const isLossy = name === 'express.text()';
  const expected = { ...EXPECTED, ...(isLossy && { 'a file': [500, 'internal_error'] }) };
  expect(await askAll(url)).toEqual(expected);
  expect(hooked).toEqual([{ a: [1] }]);
});

it('a webhook by the type of a form, which the host has cut into fields, is refused', async () => {
  const { url } = await serve(express.urlencoded());
  const type = 'application/x-www-form-urlencoded';
  const reply = await read(await post(`${url}/api/hooks/t`, type, '{"a":"b=c&d"}'));
  expect(reply).toEqual([500, 'internal_error']);
  expect(hooked).toEqual([]);
});

it('what was read and not left is refused at once, and the log says what to do', async () => {
  const { url, logged } = await serve((request: Request, _response, next) => {
    request.resume().once('end', next);
  });
  const refused = [500, 'internal_error'];
  const kinds = Object.keys(ROUTES).filter((name) => !name.startsWith('a message'));
  expect(await askAll(url)).toMatchObject(Object.fromEntries(kinds.map((name) => [name, refused])));
  const reply = await post(`${url}/api/chat`, 'application/json', JSON.stringify(CHAT));
  expect([reply.status, await reply.json()]).toEqual([
    500,
    { error: 'This server read the request body before its API could.', code: 'internal_error' },
  ]);
  expect(hooked).toEqual([]);
  expect(logged.length).toBeGreaterThanOrEqual(kinds.length);
});

it.each([
  ['nested too deeply', `${'['.repeat(LIMITS.jsonDepth)}${']'.repeat(LIMITS.jsonDepth)}`, 400],
  ['so deep that nothing can visit it', `${'['.repeat(1e6)}${']'.repeat(1e6)}`, 400],
  ['of too many values', `[${'1,'.repeat(LIMITS.jsonValues)}1]`, 413],
  ['too large', JSON.stringify('x'.repeat(LIMITS.bodyBytes)), 413],
])('a parsed body that is %s is refused', async (_name, metadata, status) => {
  const { url } = await serve(express.json({ limit: '50mb' }));
  const body = `{"messages":[{"id":"u1","role":"user","content":"hi","metadata":{"a":${metadata}}}]}`;
  expect((await post(`${url}/api/chat/s1`, 'application/json', body)).status).toBe(status);
});
