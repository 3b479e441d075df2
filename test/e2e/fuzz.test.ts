import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { OPERATIONS, readOpenApi, refusalsOf } from '../../api/openapi/document.js';
import type { Operation } from '../../api/openapi/operation.js';
import { HTTP_STATUS, type ErrorCode } from '../../protocol/errors.js';
import { useProduct } from '../support/product.js';
import { connectRaw } from '../support/raw-http.js';
import { NASTY, valuesOf, type Hints, type JsonSchema } from '../support/schema-values.js';

/**
 * The routes, asked with what fits their description, with what almost fits, and with bytes.
 * `FUZZ_SEED` and `FUZZ_RUNS` choose others; a failure names its seed.
 */
const product = useProduct({ env: { DEFAULT_AGENT: 'lab' } });
const seed = Number(process.env['FUZZ_SEED'] ?? 20_260_101);
const runs = Number(process.env['FUZZ_RUNS'] ?? 1_000);
const PATIENCE_MS = 20_000;

const document = JSON.parse(JSON.stringify(readOpenApi())) as {
  paths: Record<string, Record<string, DocumentedOperation>>;
};
interface DocumentedOperation {
  parameters?: { in: string; name: string; schema: JsonSchema }[];
  requestBody?: { content: Record<string, { schema: JsonSchema }> };
}

/** Sessions that are there: one that waits for people, one that rests, one that was stopped. */
const SESSIONS = ['f-waits', 'f-rests', 'f-stopped'];
const session = fc.constantFrom(...SESSIONS, 'f-new');
const callId = fc.constantFrom('c1', 'c2', 'c3');
const said = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.constant(
    JSON.stringify({ script: [{ calls: [{ tool: 'charge', id: 'c3', args: { amount: 1 } }] }] }),
  ),
);
const anything = fc.jsonValue({ maxDepth: 2 });

/** What stands in the messages of chat pages, real and forged. */
const part = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('text'), text: said }) },
  fc.record({
    type: fc.constant('file'),
    url: fc.constantFrom('data:text/plain;base64,aGk=', 'data:,', 'file:///etc/passwd'),
    mediaType: fc.constant('text/plain'),
  }),
  fc.record({
    type: fc.constantFrom('tool-charge', 'dynamic-tool', 'tool-locate'),
    toolName: fc.constantFrom('charge', 'locate', 'echo'),
    toolCallId: callId,
    state: fc.constantFrom(
      'approval-responded',
      'output-available',
      'output-error',
      'input-available',
    ),
    input: anything,
    output: anything,
    errorText: fc.string(),
    approval: fc.record({ id: fc.string(), approved: fc.boolean(), reason: fc.string() }),
  }),
);

const message = (role: string, id: fc.Arbitrary<string>): fc.Arbitrary<unknown> =>
  fc.record({
    id,
    role: fc.constant(role),
    parts: fc.array(part, { minLength: 1, maxLength: 3 }),
    metadata: fc.dictionary(fc.string(), anything, { maxKeys: 2 }),
  });

const hints: Hints = {
  SessionId: session,
  agent: fc.constant('lab'),
  agentType: fc.constant('lab'),
  sessionId: session,
  toolCallId: callId,
  messageId: fc.constantFrom('u1', 'u2', 'msg-1'),
  parts: fc.array(part, { minLength: 1, maxLength: 3 }),
  text: said,
  content: said,
  trigger: fc.constantFrom('submit-message', 'regenerate-message'),
  message: fc.oneof(
    { weight: 1, arbitrary: said },
    {
      weight: 4,
      arbitrary: fc.record({ id: fc.uuid(), role: fc.constant('user'), content: said }),
    },
  ),
  messages: fc
    .tuple(
      fc.array(message('assistant', fc.constantFrom('msg-1', 'msg-2')), { maxLength: 2 }),
      fc.array(message('user', fc.uuid()), { maxLength: 2 }),
    )
    .map(([before, after]) => [...before, ...after]),
};

const nastyText = fc.constantFrom(
  ...NASTY.filter((value) => typeof value === 'string' || typeof value === 'number').map(String),
  ...['a\u0000b', 'a\r\nb', 'ü', '%'],
);

interface Request {
  operation: Operation;
  path: string;
  /** All parameters of the path are of the form that it asks for. */
  isPathGood: boolean;
  query: [string, string][];
  headers: Record<string, string>;
  body: unknown;
}

const requests = fc.oneof(...OPERATIONS.map(toRequests));

function toRequests(operation: Operation): fc.Arbitrary<Request> {
  const path = operation.path.replace(/:(\w+)/g, '{$1}');
  const { parameters = [], requestBody } = document.paths[path]?.[operation.method] ?? {};
  const named = (
    place: string,
    values: (name: string) => fc.Arbitrary<unknown>,
  ): Record<string, fc.Arbitrary<string>> =>
    Object.fromEntries(
      parameters
        .filter((each) => each.in === place)
        .map(({ name }) => [name, values(name).map(String)]),
    );
  const inPath = fc.oneof(
    // What is there is not erased: others are to find it.
    { weight: 8, arbitrary: operation.method === 'delete' ? fc.constant('f-new') : session },
    { weight: 1, arbitrary: nastyText },
  );
  const inPathAs: Record<string, fc.Arbitrary<string>> = {
    sessionId: inPath,
    toolCallId: fc.oneof({ weight: 8, arbitrary: callId }, { weight: 1, arbitrary: nastyText }),
  };
  const inQuery: Record<string, fc.Arbitrary<unknown>> = {
    sessionId: session,
    limit: fc.integer({ min: 1, max: 20 }),
    offset: fc.nat({ max: 9 }),
    agent: fc.constant('lab'),
    busy: fc.constantFrom('queue', 'steer', 'interrupt', 'reject'),
    fromSequence: fc.nat({ max: 9 }),
  };
  const inHeader = fc.oneof(fc.nat(), fc.constantFrom('v7', '-1', '1e9', 'x'.repeat(300), ' '));
  const schema = requestBody?.content['application/json']?.schema;
  return fc
    .record({
      inPath: fc.record(named('path', (name) => inPathAs[name] ?? nastyText)),
      inQuery: some(
        named('query', (name) =>
          fc.oneof(
            { weight: 6, arbitrary: inQuery[name] ?? nastyText },
            { weight: 1, arbitrary: nastyText },
          ),
        ),
      ),
      isTwice: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
      headers: some(named('header', () => inHeader)),
      body: schema === undefined ? fc.constant(undefined) : valuesOf(schema, document, hints),
    })
    .map(({ inPath: ids, inQuery: query, isTwice, headers, body }) => ({
      operation,
      path: Object.entries(ids).reduce(
        (at, [name, value]) =>
          at.replace(`:${name}`, encodeURIComponent(Buffer.from(value).toString())),
        operation.path,
      ),
      isPathGood: Object.values(ids).every((value) => /^[\w-]{1,128}$/.test(value)),
      query: Object.entries(query).flatMap(([name, value]): [string, string][] =>
        isTwice
          ? [
              [name, value],
              [name, value],
            ]
          : [[name, value]],
      ),
      headers,
      body: withIdOfPath(body, ids['sessionId']),
    }));
}

/** A body that names its session names that of the path, unless it was changed. */
function withIdOfPath(body: unknown, sessionId: string | undefined): unknown {
  const isNamed = typeof body === 'object' && body !== null && 'messages' in body && 'id' in body;
  const isMeant = isNamed && SESSIONS.includes(String(body.id)) && sessionId !== undefined;
  return isMeant ? { ...body, id: sessionId } : body;
}

/** Records that lack some of the keys. */
function some(values: Record<string, fc.Arbitrary<string>>): fc.Arbitrary<Record<string, string>> {
  return fc
    .tuple(fc.record(values), fc.infiniteStream(fc.boolean()))
    .map(([record, keeps]) =>
      Object.fromEntries(Object.entries(record).filter(() => keeps.next().value === true)),
    );
}

interface Answer {
  status: number;
  isStream: boolean;
  text: string;
}

async function send({ operation, path, query, headers, body }: Request): Promise<Answer> {
  const leave = new AbortController();
  const timer = setTimeout(() => {
    leave.abort(new Error('no answer'));
  }, PATIENCE_MS);
  try {
    const search = query.length === 0 ? '' : `?${new URLSearchParams(query).toString()}`;
    const response = await fetch(product.url + path + search, {
      method: operation.method.toUpperCase(),
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: leave.signal,
    });
    const isStream = response.headers.get('content-type')?.includes('event-stream') ?? false;
    return { status: response.status, isStream, text: isStream ? '' : await response.text() };
  } finally {
    clearTimeout(timer);
    // Streams are left at once; what they began goes on.
    leave.abort();
  }
}

/** Every reply is one that the description allows, and refusals say why. */
function check({ operation, isPathGood }: Request, { status, isStream, text }: Answer): void {
  const reply = operation.replies[status];
  if (status < 300 && reply !== undefined) {
    const { content } = reply;
    if (isStream) expect(content).toHaveProperty('events');
    else if (content !== undefined && 'json' in content) content.json.parse(JSON.parse(text));
    return;
  }
  const { error, code } = JSON.parse(text) as { error: string; code: ErrorCode };
  expect(error).toEqual(expect.stringMatching(/./));
  expect(error).not.toMatch(/node_modules|\.js:|\.ts:|redis|lua/i);
  expect(HTTP_STATUS[code]).toBe(status);
  if (status !== 503) expect(status).toBeLessThan(500);
  // Another path may be another route, or none.
  if (isPathGood) expect(refusalsOf(operation).get(status)).toContain(code);
}

const reporter = { seed, numRuns: runs, endOnFailure: true, verbose: 0 } as const;

describe(`the API, fuzzed (FUZZ_SEED=${String(seed)})`, () => {
  beforeAll(async () => {
    const script = (...steps: object[]): string => JSON.stringify({ script: steps });
    const ask = [
      { tool: 'charge', id: 'c1', args: { amount: 1 } },
      { tool: 'locate', id: 'c2', args: {} },
    ];
    await begin('f-waits', script({ calls: ask }), (text) => text.includes('[DONE]'));
    await begin('f-rests', 'hi', (text) => text.includes('[DONE]'));
    await begin('f-stopped', script({ say: 'Hm. '.repeat(99), deltas: 99, everyMs: 100 }), (text) =>
      text.includes('text-delta'),
    );
    await fetch(`${product.url}/api/chat/f-stopped/stop`, { method: 'POST' });
  });

  it('answers what fits its description, or almost does, with what it describes', async () => {
    const begun = new Set<string>(SESSIONS);
    const seen = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        const answer = await send(request);
        if (answer.status === 500) await explain(request);
        check(request, answer);
        seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
        if (answer.status < 300) for (const id of idsIn(request, answer)) begun.add(id);
      }),
      reporter,
    );
    // Both are met: who is only refused looks at nothing.
    const served = [...seen].map(([status, count]) => (status < 300 ? count : 0));
    expect(served.reduce((sum, count) => sum + count)).toBeGreaterThan(runs / 4);
    expect(seen.get(400)).toBeGreaterThan(0);
    // Nothing is stored of sessions for which every request was refused.
    expect((await storedSessions()).filter((id) => !begun.has(id))).toEqual([]);
  }, 180_000);

  it('answers bytes that are almost requests, or hangs up', async () => {
    const before = await storedSessions();
    await fc.assert(
      fc.asyncProperty(almostRequests, async (bytes) => {
        const connection = await connectRaw(product.url);
        connection.send(bytes);
        connection.socket.end();
        const timer = setTimeout(
          () => connection.socket.destroy(new Error('no answer')),
          PATIENCE_MS,
        );
        const startedAt = Date.now();
        const { status, text } = await connection.reply;
        await connection.closed;
        clearTimeout(timer);
        expect(Date.now() - startedAt).toBeLessThan(PATIENCE_MS);
        if (status >= 400) {
          expect(status === 503 || status < 500).toBe(true);
          expect(text).toContain('"code":"');
        }
        expect(text).not.toContain('x-evil');
      }),
      { ...reporter, numRuns: runs * 2 },
    );
    const fresh = (await storedSessions()).filter((id) => !before.includes(id));
    expect(fresh.filter((id) => !/^(raw-|s-)/.test(id))).toEqual([]);
  }, 180_000);

  it('is still there, and still answers', async () => {
    expect(await product.isReady()).toBe(true);
    const response = await fetch(`${product.url}/api/chat/afterwards`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message: { id: 'u1', role: 'user', content: 'hi' } }),
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('data: [DONE]');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

/** A fault says nothing to clients; the log of the API does. */
async function explain({ operation, path, body }: Request): Promise<never> {
  const logged = await product.apiSays('Something went wrong on our side.');
  const asked = `${operation.id} ${path} ${JSON.stringify(body)}`;
  throw new Error(`${asked} is a fault: ${JSON.stringify(logged)}`);
}

/** Sessions that an accepted request may have made. */
function idsIn({ path, body }: Request, { text }: Answer): string[] {
  const ids = [/^\/api\/chat\/([^/]+)/.exec(path)?.[1]];
  for (const source of [body, text.startsWith('{') ? JSON.parse(text) : undefined]) {
    if (typeof source !== 'object' || source === null) continue;
    const { id, sessionId } = source as { id?: unknown; sessionId?: unknown };
    for (const each of [id, sessionId]) if (typeof each === 'string') ids.push(each);
  }
  return ids.flatMap((id) => id ?? []);
}

/** The sessions of which anything is stored. */
async function storedSessions(): Promise<string[]> {
  const keys = await product.redis.keys('hx:{*');
  return [...new Set(keys.map((key) => /^hx:\{([^}]*)\}/.exec(key)?.[1] ?? key))];
}

/** Begins a turn and reads its reply until enough has come. */
async function begin(
  id: string,
  content: string,
  isEnough: (text: string) => boolean,
): Promise<void> {
  const leave = new AbortController();
  const response = await fetch(`${product.url}/api/chat/${id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message: { id: 'u1', role: 'user', content } }),
    signal: leave.signal,
  });
  let text = '';
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (isEnough(text)) break;
  }
  leave.abort();
}

const body = JSON.stringify({ message: { id: 'u1', role: 'user', content: 'hi' } });
const SEEDS = [
  'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n',
  'GET /api/chat/raw-1/snapshot HTTP/1.1\r\nhost: a\r\ncookie: helix-snapshot=1\r\n\r\n',
  `POST /api/chat/raw-1/stop HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${String(body.length)}\r\n\r\n${body}`,
  'POST /api/agent/start HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ncontent-type: application/json\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  'OPTIONS /api/chat/raw-1 HTTP/1.1\r\nhost: a\r\norigin: https://a.test\r\naccess-control-request-method: POST\r\n\r\n',
  'GET /api/agent/sse?sessionId=raw-1 HTTP/1.1\r\nhost: a\r\nlast-event-id: 3\r\n\r\n',
];

const INSERTS = [
  ...[
    '\r\n',
    '\n',
    '\r',
    '\u0000',
    ' ',
    ':',
    '%',
    '%0d%0ax-evil: 1',
    '\r\nx-evil: 1\r\n',
    '/../',
    '?',
    '#',
  ],
  ...['Expect: 100-continue\r\n', 'Expect: x\r\n', 'Upgrade: websocket\r\nConnection: Upgrade\r\n'],
  ...[
    'content-length: 5\r\n',
    'transfer-encoding: gzip\r\n',
    'content-encoding: gzip\r\n',
    'host: b\r\n',
  ],
  ...[
    'range: bytes=0-1\r\n',
    'authorization: Bearer \r\n',
    'x'.repeat(20_000),
    '\u00ff\u00fe',
    '{',
    '"',
    ']',
  ],
];

/** Good requests of bytes, of which some are put in, taken out or changed. */
const almostRequests = fc
  .record({
    request: fc.constantFrom(...SEEDS),
    changes: fc.array(
      fc.record({
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        cut: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat({ max: 20 })),
        put: fc.oneof(fc.constantFrom(...INSERTS), fc.string({ unit: 'binary', maxLength: 6 })),
      }),
      { maxLength: 3 },
    ),
  })
  .map(({ request, changes }) =>
    Buffer.from(
      changes.reduce((text, { at, cut, put }) => {
        const place = Math.floor(at * text.length);
        return text.slice(0, place) + put + text.slice(place + cut);
      }, request),
      'latin1',
    ),
  );
