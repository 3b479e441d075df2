import fc from 'fast-check';
import { Redis } from 'ioredis';
import { HTTP_STATUS, type ErrorCode } from '../../protocol/errors.js';
import { describedBody } from '../support/described-body.js';
import { postJson } from '../support/post-json.js';
import { useLocalProduct } from '../support/local-product.js';
import { connectRaw } from '../support/raw-http.js';
import { startRedis } from '../support/redis-server.js';
import { openStores } from '../support/test-stores.js';
import { almostRequests } from './fuzz/almost-requests.js';
import { requests, SESSIONS, type FuzzRequest } from './fuzz/requests.js';

/**
 * Sends every route valid requests, almost valid ones, and raw bytes. `FUZZ_SEED` and `FUZZ_RUNS`
 * choose others; a failure names its seed.
 */
let redis: Redis;
const product = useLocalProduct({
  defaultAgent: 'lab',
  openStores: async () => {
    const server = await startRedis();
    atEndOfFile(server.close);
    redis = new Redis(server.url);
    atEndOfFile(() => redis.disconnect());
    return openStores(server.url);
  },
});
const seed = Number(process.env['FUZZ_SEED'] ?? 20_260_101);
const runs = Number(process.env['FUZZ_RUNS'] ?? 200);
const PATIENCE_MS = 60_000;

interface Answer {
  status: number;
  isStream: boolean;
  text: string;
}

async function send({ route, path, query, headers, body }: FuzzRequest): Promise<Answer> {
  const leave = new AbortController();
  const timer = setTimeout(() => {
    leave.abort(new Error('no answer'));
  }, PATIENCE_MS);
  try {
    const search = query.length === 0 ? '' : `?${new URLSearchParams(query).toString()}`;
    const response = await fetch(product.url + path + search, {
      method: route.method.toUpperCase(),
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: leave.signal,
    });
    const isStream = response.headers.get('content-type')?.includes('event-stream') ?? false;
    return { status: response.status, isStream, text: isStream ? '' : await response.text() };
  } finally {
    clearTimeout(timer);
    // The test leaves streams at once; their runs continue.
    leave.abort();
  }
}

/** Checks that the route's description allows the reply and that a refusal gives its reason. */
function check({ route, isPathGood, path }: FuzzRequest, { status, isStream, text }: Answer): void {
  const reply = route.replies[status];
  // A path without its last id addresses a list.
  const isOther = !isPathGood && path.endsWith('/');
  if (status < 300 && isOther) return;
  if (status < 300 && reply !== undefined) {
    const { content } = reply;
    if (isStream) expect(content).toHaveProperty('events');
    else if (content === undefined) expect(text).toBe('');
    else if ('json' in content) describedBody(route, status).parse(JSON.parse(text));
    return;
  }
  // A bad path may match another route, or none.
  if (isPathGood) describedBody(route, status).parse(JSON.parse(text));
  const { error, code } = readProblem(text);
  expect(error).toEqual(expect.stringMatching(/./));
  expect(error).not.toMatch(/node_modules|\.js:|\.ts:|redis|lua/i);
  expect(HTTP_STATUS[code]).toBe(status);
  if (status !== 503) expect(status).toBeLessThan(500);
}

/** Reads a refusal, in the API's own form or in OpenAI's. */
function readProblem(text: string): { error: string; code: ErrorCode } {
  type Problem =
    { error: string; code: ErrorCode } | { error: { message: string; code: ErrorCode } };
  const problem = JSON.parse(text) as Problem;
  if ('code' in problem) return problem;
  return { error: problem.error.message, code: problem.error.code };
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

  it('the API answers requests that fit its description, or almost do, with described replies', async () => {
    const begun = new Set<string>(SESSIONS);
    const seen = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        const answer = await send(request);
        if (answer.status === 500) explain(request);
        check(request, answer);
        seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
        if (answer.status < 300) for (const id of idsIn(request, answer)) begun.add(id);
      }),
      reporter,
    );
    // The requests must meet both outcomes: a run that is only refused tests nothing.
    const served = [...seen].map(([status, count]) => (status < 300 ? count : 0));
    expect(served.reduce((sum, count) => sum + count)).toBeGreaterThan(runs / 8);
    expect(seen.get(400)).toBeGreaterThan(0);
    // Sessions whose every request was refused store nothing.
    expect((await storedSessions()).filter((id) => !begun.has(id))).toEqual([]);
  });

  it('the API answers bytes that are almost requests, or hangs up', async () => {
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
  });

  it('the API is still running, and still answers', async () => {
    const response = await postJson(`${product.url}/api/chat/afterwards`, {
      message: { id: 'u1', role: 'user', content: 'hi' },
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('data: [DONE]');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

/** Throws the fault from the API's log, since clients see none of it. */
function explain({ route, path, body }: FuzzRequest): never {
  const asked = `${route.id} ${path} ${JSON.stringify(body)}`;
  throw new Error(`${asked} is a fault: ${String(product.logged.at(-1))}`);
}

/** Returns the sessions that an accepted request may have created. */
function idsIn({ path, body }: FuzzRequest, { text }: Answer): string[] {
  const ids = [/^\/api\/chat\/([^/]+)/.exec(path)?.[1]];
  // An export holds one object per line.
  const replies = text.startsWith('{') ? text.split('\n').filter(Boolean) : [];
  for (const source of [body, ...replies.map((line) => JSON.parse(line) as unknown)]) {
    if (typeof source !== 'object' || source === null) continue;
    const { id, sessionId } = source as { id?: unknown; sessionId?: unknown };
    for (const each of [id, sessionId]) if (typeof each === 'string') ids.push(each);
  }
  return ids.flatMap((id) => id ?? []);
}

/** Returns the ids of all sessions with a key in Redis. */
async function storedSessions(): Promise<string[]> {
  const keys = await redis.keys('hx:{*');
  return [...new Set(keys.map((key) => /^hx:\{([^}]*)\}/.exec(key)?.[1] ?? key))];
}

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
