import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { createApiClient, type ApiClient } from '../../cli/api/client.js';
import { readPages } from '../../cli/api/pages.js';
import { confirm, createTerminal } from '../../cli/terminal.js';
import type { CliFailure } from '../../cli/failure.js';
import { callTool, toolsFor } from '../../cli/mcp/tools.js';
import { LIMITS } from '../../protocol/limits.js';
import { parseCall } from '../../cli/commands/approval/calls.js';
import {
  parseDuration,
  parseFuture,
  parseSince,
  parseText,
  parseUrl,
  readJson,
} from '../../cli/parse-values.js';
import { runCommand } from '../support/command-line.js';
import { listen, type Listening } from '../support/listen.js';

let server: Listening;

/** Connects a client to a server that gives this answer. */
async function connect(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  { token, onWait }: { token?: string; onWait?: () => void } = {},
) {
  server = await listen(createServer(answer));
  return createApiClient({ url: server.url, token, via: 'cli', onWait });
}

const failureOf = (work: Promise<unknown>): Promise<CliFailure> =>
  work.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error as CliFailure,
  );

describe('the client of the API', () => {
  it('the client of the API names its channel and its person', async () => {
    const seen: IncomingMessage[] = [];
    const api = await connect(
      (request, response) => {
        seen.push(request);
        response.end('{"a":1}');
      },
      { token: 't' },
    );
    expect(await api.get('/x', { query: { a: 'b c', none: undefined } })).toEqual({ a: 1 });
    for (const act of [() => api.post('/x'), () => api.post('/x'), () => api.delete('/x')])
      await act();
    // Each act has its own key, under which the server executes it once.
    const keys = seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([undefined, ...Array<unknown>(3).fill(expect.any(String))]);
    expect(new Set(keys).size).toBe(4);
    expect(seen[0]?.url).toBe('/x?a=b+c');
    expect(seen[0]?.headers).toMatchObject({
      'x-helix-via': 'cli',
      authorization: 'Bearer t',
    });
  });

  it.each([
    [401, undefined, 77, 'Set HELIX_TOKEN'],
    [401, 'old', 77, 'HELIX_TOKEN is not accepted'],
    [403, 'mine', 77, 'Your roles do not allow it'],
    [404, 'mine', 1, '(not_found)'],
    [503, 'mine', 69, '(not_found)'],
  ])('a refusal with %d and the token %s ends with %d', async (status, token, exitCode, says) => {
    const body = JSON.stringify({ error: 'No.\u001b[2K', code: 'not_found' });
    const api = await connect((_, response) => response.writeHead(status).end(body), { token });
    const failure = await failureOf(api.get('/x'));
    expect(failure).toMatchObject({ exitCode, code: 'not_found' });
    expect(failure.message).toContain('No.\\u001b[2K (not_found)');
    expect(failure.message).toContain(says);
  });

  it('a redirect is not followed, so that a sign-in page does not get the token', async () => {
    let requests = 0;
    const api = await connect(
      (_, response) => {
        requests += 1;
        response.writeHead(302, { location: '/sign-in' }).end();
      },
      { token: 't' },
    );
    const failure = await failureOf(api.get('/x'));
    expect(failure.message).toContain('redirects to /sign-in. Set HELIX_URL');
    expect({ requests, exitCode: failure.exitCode }).toEqual({ requests: 1, exitCode: 69 });
  });

  it('a page instead of JSON is not the API', async () => {
    for (const page of ['<html>', '', '{}', 'null', '[{"a":1}]']) {
      const api = await connect((_, response) => response.end(page));
      for (const ask of [() => api.get('/x'), () => api.post('/x'), () => api.lines('/x').next()]) {
        const { exitCode, message } = await failureOf(ask());
        expect(exitCode).toBe(69);
        expect(message).toContain('is it the address of a helix-temporal API?');
      }
    }
  });

  it('a reply has to begin in time, and may be long then', async () => {
    jest.useFakeTimers();
    jest.spyOn(globalThis, 'fetch').mockImplementation((url, init) => {
      const late = new Promise<Response>((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
      });
      if (url instanceof URL && url.pathname === '/silent') return late;
      const body = new ReadableStream({
        start: (controller) => {
          void late.catch((error: unknown) => controller.error(error));
          setTimeout(() => {
            controller.enqueue(new TextEncoder().encode('{"a":1}'));
            controller.close();
          }, 60_000);
        },
      });
      return Promise.resolve(new Response(body));
    });
    const api = createApiClient({ url: 'http://api.test', token: undefined, via: 'cli' });
    const long = api.get('/long');
    const silent = failureOf(api.get('/silent'));
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await long).toEqual({ a: 1 });
    expect((await silent).message).toContain('did not answer within 30 s');
  });

  it('a server that is not there is named, with the setting', async () => {
    const api = await connect(() => undefined);
    await server.close();
    const failure = await failureOf(api.get('/x'));
    expect(failure.exitCode).toBe(69);
    expect(failure.message).toContain(`${api.url} refuses connections: is the server running`);
    expect(failure.message).toContain('--url or HELIX_URL');
  });

  it('a reply that breaks off is a server that is away', async () => {
    const api = await connect((_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{"a":', () => response.destroy());
    });
    const failure = await failureOf(api.get('/x'));
    expect(failure).toMatchObject({ name: 'CliFailure', exitCode: 69 });
    expect(failure.message).toContain(`${api.url} closed the connection`);
  });

  it.each([
    ['an empty id', '/runs/', {}, 'neither empty'],
    ['an id of dots', '/runs/../stop', {}, 'neither empty'],
    ['a token of two lines', '/runs/r1', { token: 'a\nb' }, 'HELIX_TOKEN has'],
    ['a key of other letters', '/runs/r1', { idempotencyKey: 'ключ' }, '--idempotency-key has'],
  ])('%s is wrong usage, and nothing is asked', async (_, path, options, message) => {
    const url = 'http://127.0.0.1:1';
    const act = async () => createApiClient({ url, token: 't', via: 'cli', ...options }).post(path);
    const failure = await failureOf(act());
    expect(failure).toMatchObject({ exitCode: 64, message: expect.stringContaining(message) });
  });

  it('a limit is waited for, and the act is sent again with its key', async () => {
    let requests = 0;
    const keys = new Set<unknown>();
    let waits = 0;
    const api = await connect(
      ({ headers }, response) => {
        requests += 1;
        keys.add(headers['idempotency-key']);
        if (requests === 1) response.writeHead(429, { 'retry-after': '1' }).end('{}');
        else response.end('{"a":1}');
      },
      { onWait: () => (waits += 1) },
    );
    await api.post('/x', {});
    expect({ requests, waits, keys: keys.size }).toEqual({ requests: 2, waits: 1, keys: 1 });
  });

  it.each([
    ['for ever is waited for a few times', '0.001', 5],
    ['for more than a minute is not waited for', '61', 1],
  ])('a limit that lasts %s', async (_, wait, tries) => {
    let requests = 0;
    const api = await connect((_request, response) => {
      requests += 1;
      response.writeHead(429, { 'retry-after': wait }).end('{"error":"No.","code":"limited"}');
    });
    expect(await failureOf(api.get('/x'))).toMatchObject({ exitCode: 1, code: 'limited' });
    expect(requests).toBe(tries);
  });

  it('the last line of a download counts also without an end', async () => {
    const api = await connect((_, response) => {
      response.setHeader('content-type', 'application/x-ndjson').end('{"a":1}\n{"b":2}');
    });
    const lines: string[] = [];
    for await (const line of api.lines('/x')) lines.push(line);
    expect(lines).toEqual(['{"a":1}', '{"b":2}']);
  });
});

it('a short page is not the end of a list', async () => {
  const read = ({ cursor = '0' }: { cursor: string | undefined }) =>
    Promise.resolve({ items: [Number(cursor)], cursor: String(Number(cursor) + 1) });
  const taken: number[] = [];
  for await (const item of readPages(read, 3)) taken.push(item);
  expect(taken).toEqual([0, 1, 2]);
});

it('a list is read page by page, and no further than needed', async () => {
  const asked: { limit: number; cursor: string | undefined }[] = [];
  const read = (page: (typeof asked)[number]) => {
    asked.push(page);
    const from = Number(page.cursor ?? 0);
    const items = Array.from({ length: page.limit }, (_, n) => from + n);
    return Promise.resolve({ items, cursor: String(from + page.limit) });
  };
  let isMore = false;
  const taken: number[] = [];
  const pages = readPages(read, 150, () => (isMore = true));
  for await (const item of pages) taken.push(item);
  expect(taken).toEqual(Array.from({ length: 150 }, (_, n) => n));
  expect(asked).toEqual([
    { limit: 100, cursor: undefined },
    { limit: 50, cursor: '100' },
  ]);
  expect(isMore).toBe(true);
});

describe('the settings of the command line', () => {
  it('the token of a file is sent without its line break, and a wait is said in seconds', async () => {
    const tokens: (string | undefined)[] = [];
    await connect(({ headers }, response) => {
      tokens.push(headers.authorization);
      if (tokens.length === 1) response.writeHead(429, { 'retry-after': '0.5' });
      response.end('{"workers":[]}');
    });
    const env = { HELIX_URL: ` ${server.url}/ `, HELIX_TOKEN: 't\n' };
    const { code, stderr } = await runCommand(['worker', 'list'], { env });
    expect([code, tokens]).toEqual([0, ['Bearer t', 'Bearer t']]);
    expect(stderr).toContain('The server asks to wait 0.5 s.');
  });

  it('an address with a password is refused without showing it', async () => {
    const env = { HELIX_URL: 'http://ann:secret@host.test' };
    const { code, stderr } = await runCommand(['worker', 'list'], { env });
    expect([code, stderr]).toEqual([64, expect.stringMatching(/^(?!.*secret)HELIX_URL must be/)]);
  });

  it.each([
    ['y\n', true],
    ['Yes\n', true],
    ['\n', false],
    ['no\n', false],
    ['', false],
  ])('the answer %j to a question is a yes: %s', async (typed, isYes) => {
    const stdin = Readable.from([Buffer.from(typed)]);
    const streams = { stdin, stdout: new PassThrough(), stderr: new PassThrough() };
    expect(await createTerminal(streams as never, {}).ask('Really?')).toBe(isYes);
  });
});

describe('a change that has to be agreed to', () => {
  const terminal = (answer: boolean, isInteractive = true) =>
    ({ isInteractive, ask: () => Promise.resolve(answer) }) as never;

  it('is made after a yes, on the command line or at the terminal', async () => {
    await confirm(terminal(true), 'Really?', {});
    await confirm(terminal(false, false), 'Really?', { yes: true });
  });

  it('is not made otherwise', async () => {
    expect(await failureOf(confirm(terminal(false), 'Really?', {}))).toMatchObject({ exitCode: 1 });
    const unasked = await failureOf(confirm(terminal(true, false), 'Really?', {}));
    expect(unasked).toMatchObject({ exitCode: 64, message: expect.stringContaining('-y') });
  });
});

describe('values on the command line', () => {
  it('durations have a unit', () => {
    expect(['250ms', '90s', '1.5h', '30d'].map(parseDuration)).toEqual([
      250, 90_000, 5_400_000, 2_592_000_000,
    ]);
    for (const text of ['', '5', '1y', '-1h', '1h30m', '36501d', `${'9'.repeat(400)}d`]) {
      expect(() => parseDuration(text)).toThrow('such as 90s');
    }
  });

  it('an address is of HTTP, without credentials', () => {
    expect(parseUrl('https://a.example/x/')).toBe('https://a.example/x');
    for (const text of ['a', 'ftp://a', 'http://u:p@a']) expect(() => parseUrl(text)).toThrow();
  });

  it('a filter must not be empty', () => {
    expect(parseText("AgentName = 'lab'")).toBe("AgentName = 'lab'");
    for (const text of ['', '  ']) expect(() => parseText(text)).toThrow('must not be empty');
  });

  it('a time in the past is a duration or a date', () => {
    expect(parseSince('1h')(3_600_000)).toBe('1970-01-01T00:00:00.000Z');
    expect(parseSince('2026-11-01')(0)).toBe('2026-11-01T00:00:00.000Z');
    expect(parseFuture('1h')(0)).toBe('1970-01-01T01:00:00.000Z');
    expect(() => parseFuture('tomorrow')).toThrow('such as 2h');
    for (const text of ['yesterday', '5', '2026-99-01', '2026-11-31', '2026-02-29T10:00Z'])
      expect(() => parseSince(text)).toThrow();
    expect(parseSince('2028-02-29T23:30-05:00')(0)).toBe('2028-03-01T04:30:00.000Z');
  });

  it('a call is named by its session, or by its approval id', () => {
    const expected = { sessionId: 's-1', toolCallId: 'c::1' };
    const tenant = 'AbCdEfGhIjKlMnOp';
    for (const left of ['s-1', 's-1:2-xyz', `${tenant}~s-1:2-xyz`, 's-1.4-abc:1-xyz']) {
      expect(parseCall(`${left}::c::1`)).toEqual(expected);
    }
    expect(() => parseCall('c1')).toThrow('names no call');
  });

  it('JSON is given as it is, or comes from stdin', async () => {
    const stdin = { readAll: () => Promise.resolve('{"a":2}') };
    expect(await readJson('--input', '{"a":1}', stdin)).toEqual({ a: 1 });
    expect(await readJson('--input', '@-', stdin)).toEqual({ a: 2 });
    await expect(readJson('--input', 'a', stdin)).rejects.toThrow('--input is no JSON');
    await expect(readJson('--input', '@/none/x', stdin)).rejects.toThrow('cannot be read (ENOENT)');
  });
});

it('an agent gets tools that change something only where writes are allowed', () => {
  const tools = (allowWrites: boolean) =>
    toolsFor({ allowWrites }).map(({ name, isWrite }) => [name, isWrite]);
  const reads = [
    'list_runs',
    'count_runs',
    'get_run',
    'list_waiting',
    'read_session',
    'list_audit',
    'verify_audit',
    'list_agents',
  ].map((name) => [name, false]);
  const writes = [
    'approve_call',
    'deny_call',
    'extend_deadline',
    'stop_run',
    'resume_run',
    'retry_run',
  ].map((name) => [name, true]);
  expect(tools(false)).toEqual(reads);
  expect(tools(true)).toEqual([...reads, ...writes]);
});

it.each([LIMITS.mcpMessageBytes / 2, 2 * LIMITS.mcpMessageBytes])(
  'an agent gets a reply of %d bytes, or a hint that its client would close the connection',
  async (bytes) => {
    const [tool] = toolsFor({ allowWrites: false });
    if (tool === undefined) throw new Error('there is no tool');
    const api = { get: () => Promise.resolve({ text: 'x'.repeat(bytes) }) };
    const { content, isError } = await callTool(api as unknown as ApiClient, tool, {});
    expect(isError).toBe(bytes > LIMITS.mcpMessageBytes);
    expect(JSON.stringify(content).length < LIMITS.mcpMessageBytes).toBe(true);
  },
);
