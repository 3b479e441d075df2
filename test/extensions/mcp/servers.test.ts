import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createToolHost } from '../../../activities/index.js';
import { guardedLookup, type ToolContext } from '../../../agents/index.js';
import { toModelName } from '../../../agents/tool-names.js';
import { connectionsOf } from '../../../extensions/mcp/connection.js';
import { toFailure } from '../../../extensions/mcp/errors.js';
import { mcpServers, type McpServer } from '../../../extensions/mcp/index.js';
import type { PinnedTool } from '../../../extensions/mcp/pinned-tools.js';
import { byHttp, byStdio } from '../../support/mcp-servers.js';
import { until } from '../../support/until.js';

const never = new AbortController().signal;
const logged: string[] = [];
const log = (fields: object, message: string): void => {
  logged.push(`${message} ${JSON.stringify(fields)}`);
};
const hosts: ReturnType<typeof createToolHost>[] = [];

/** An OAuthClientProvider without a token. */
const signingIn = {
  redirectUrl: 'http://localhost/callback',
  clientMetadata: { redirect_uris: ['http://localhost/callback'] },
  clientInformation: () => ({ client_id: 'c' }),
  tokens: (): unknown => undefined,
  saveTokens: () => undefined,
  redirectToAuthorization: () => undefined,
  saveCodeVerifier: () => undefined,
  codeVerifier: () => 'v',
};

afterEach(async () => {
  await Promise.all(hosts.splice(0).map((each) => each.close()));
  logged.length = 0;
});

function openHost() {
  const host = createToolHost({ info: log, warn: log });
  hosts.push(host);
  return host;
}

/** Returns the tools of an agent with this server as `s`. */
async function toolsOf(server: McpServer, host = openHost(), own = new Set<string>()) {
  const source = mcpServers({ s: server });
  const pinned = (await source.list(own, host, never)) as PinnedTool[];
  const tools = source.toTools(pinned, host);
  const run = (name: string, input: object = {}, signal = never): Promise<unknown> => {
    const tool = tools.find((each) => each.name === `s_${name}`);
    if (typeof tool?.execute !== 'function') throw new Error(`no tool ${name}`);
    const context = { idempotencyKey: 'key', abortSignal: signal } as ToolContext;
    return Promise.resolve(tool.execute(input, context));
  };
  return { pinned, tools, run, names: tools.map(({ name }) => name) };
}

const ways = (mode = '') => Promise.all([byStdio(mode), byHttp(mode)]);

const SESSION = ['mcp-session-id', 'one'] as const;

describe('servers of tools', () => {
  it('are called by program and by HTTP, with the key of the call', async () => {
    for (const { server, notes } of await ways()) {
      const { run, names } = await toolsOf(server);
      expect(names).toContain('s_look');
      expect(await run('look', { text: 'here' })).toEqual({
        content: [{ type: 'text', text: 'did look here' }],
        structuredContent: { text: 'here' },
      });
      expect(await notes()).toContain('look key');
    }
  });

  it('an image reaches the model as an image, and what has no form as a remark', async () => {
    const { server } = await byStdio();
    const { tools, run } = await toolsOf(server);
    const tool = tools.find(({ name }) => name === 's_image');
    const output = await run('image');
    expect(await tool?.toModelOutput?.({ toolCallId: 'c', input: {}, output })).toEqual({
      type: 'content',
      value: [
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'iVBORw0KGgo=' } },
        { type: 'text', text: '[content that cannot be shown]' },
      ],
    });
  });

  it('an error of the tool, of the protocol and of the form have their codes, without secrets', async () => {
    const { server } = await byStdio('', { env: { SECRET: 'hunter-2-hunter' } });
    const { run } = await toolsOf(server);
    await expect(run('fail')).rejects.toMatchObject({ code: 'mcp_tool_error', message: 'no: ***' });
    await expect(run('refuse')).rejects.toMatchObject({ code: 'mcp_call_refused' });
    await expect(run('odd')).rejects.toMatchObject({ code: 'mcp_bad_answer' });
    await until('its log is read', () => logged.some((line) => line.includes('started with ***')));
    expect(logged.join('\n')).not.toContain('hunter');
  });

  it('a result beyond 4 MiB is refused, and the next call works', async () => {
    for (const { server } of await ways()) {
      const { run } = await toolsOf(server);
      await expect(run('big')).rejects.toMatchObject({ code: 'tool_result_too_large' });
      expect(await run('look')).toMatchObject({ content: [{ text: 'did look ' }] });
    }
  });

  it('a server that dies in a call that changes something leaves its outcome open', async () => {
    for (const { server, notes } of await ways()) {
      const { run } = await toolsOf(server);
      await expect(run('die')).rejects.toMatchObject({ code: 'tool_outcome_unknown' });
      expect((await notes()).filter((line) => line.startsWith('die'))).toHaveLength(1);
      expect(await run('look')).toMatchObject({ content: [{ text: 'did look ' }] });
    }
  });

  it('a call that only reads is repeated on a new connection', async () => {
    const http = await byHttp();
    const { run } = await toolsOf(http.server);
    expect(await run('die-once')).toMatchObject({ content: [{ text: 'survived' }] });
    const calls = (await http.notes()).filter((line) => line.startsWith('die-once'));
    expect(calls).toEqual(['die-once key', 'die-once key']);
  });

  it('a stop ends a call at once, and tells the server', async () => {
    for (const { server, notes } of await ways()) {
      const { run } = await toolsOf(server);
      const stop = new AbortController();
      const call = run('slow', {}, stop.signal);
      await until('it has begun', async () => (await notes()).includes('slow key'));
      stop.abort(new Error('stopped'));
      await expect(call).rejects.toThrow('stopped');
      await until('it is notified', async () => (await notes()).includes('cancelled'));
    }
  });

  it('silence at the handshake or the list ends in time', async () => {
    const silent = (await Promise.all(['no-initialize', 'no-list'].map(ways))).flat();
    await Promise.all(
      silent.map(async ({ server }) => {
        const tools = toolsOf({ ...server, connectTimeoutMs: 300 });
        await expect(tools).rejects.toMatchObject({ code: 'mcp_unavailable' });
      }),
    );
  });

  it('a list is read to its last page, also behind an empty one', async () => {
    for (const { server } of await ways('pages')) {
      expect((await toolsOf(server)).names).toEqual(['s_look', 's_change']);
    }
  });

  it.each([
    ['flood', 128, 'more tools than a run can keep'],
    ['many', 128, 'more tools than a run can keep'],
    ['endless', 20, 'it is too long'],
    ['duplicates', 1, 'it is listed twice'],
    ['stuck', 2, 'its cursor does not advance'],
    ['torn', 1, 'a page of it cannot be read'],
  ])('of a list like "%s" the %d tools that can be used are used', async (mode, count, why) => {
    const http = await byHttp(mode);
    expect((await toolsOf(http.server)).names).toHaveLength(count);
    expect(logged.join()).toContain(why);
  });

  it('no list is refused, unless the server may be away', async () => {
    const http = await byHttp('odd');
    await expect(toolsOf(http.server)).rejects.toMatchObject({ code: 'mcp_invalid_tools' });
    expect((await toolsOf({ ...http.server, optional: true })).names).toEqual([]);
  });

  it('names that models could not tell apart have suffixes, and the server hears its own', async () => {
    const http = await byHttp('alike');
    const { names, pinned, run } = await toolsOf({ ...http.server, deny: ['a/b'] });
    expect(names).toHaveLength(3);
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(pinned.find(({ tool }) => tool === 'a_b')?.name).toBe('s_a_b');
    const dotted = pinned.find(({ tool }) => tool === 'a.b')?.name ?? '';
    await run(dotted.slice('s_'.length));
    expect(await http.notes()).toContain('a.b key');
  });

  it('tools with schemas that cannot be used are left out, and logged', async () => {
    const { server } = await byStdio('lies');
    const { names, pinned } = await toolsOf(server);
    expect(names).toEqual(['s_look', 's_a_b_c_d']);
    expect(pinned.map(({ isReadOnly }) => isReadOnly)).toEqual([true, false]);
    expect(logged.filter((line) => line.startsWith('a tool of a server'))).toHaveLength(8);
  });

  it('lines that are no JSON are passed over', async () => {
    const { server } = await byStdio('garbage');
    const { run } = await toolsOf(server);
    expect(await run('look')).toMatchObject({ content: [{ text: 'did look ' }] });
    expect(logged.some((line) => line.includes('reports a fault'))).toBe(true);
  });

  it('an answer that is no JSON, or breaks off, is an error of its call', async () => {
    const answers: [string, string][] = [
      ['application/json', '{"jsonrpc":'],
      ['text/event-stream', 'event: message\ndata: {"jsonrpc":\n\n'],
      ['text/html', '<p>'],
    ];
    for (const [type, body] of answers) {
      const http = await byHttp('', {}, (_, response, { method }) => {
        const isCall = method === 'tools/call';
        return isCall && response.writeHead(200, { 'content-type': type }).end(body);
      });
      const { run } = await toolsOf(http.server);
      const code = expect.stringMatching(/^(mcp_bad_answer|tool_outcome_unknown)$/);
      await expect(run('change')).rejects.toMatchObject({ code });
    }
  });

  it('a program that does not exist, and a port without a listener, are unavailable', async () => {
    const http = await byHttp();
    await http.close();
    await Promise.all(
      [http.server, { command: '/no/such/program' }].map(async (server) => {
        const optional = toolsOf({ ...server, optional: true });
        await expect(toolsOf(server)).rejects.toMatchObject({ code: 'mcp_unavailable' });
        expect((await optional).names).toEqual([]);
      }),
    );
  });

  it.each([404, 400])(
    'a server that forgot its session is connected to again: %d',
    async (code) => {
      let [forgets, opened, isRefusing] = [true, 0, false];
      const lost = new Set<Socket | null>();
      const http = await byHttp('', {}, (_, response, { method }) => {
        response.setHeader(...SESSION);
        if (method === 'initialize') opened += 1;
        if (opened === 1) lost.add(response.socket);
        if (method !== 'tools/call' || !(forgets || isRefusing)) return false;
        forgets = false;
        return response.writeHead(isRefusing ? 400 : code).end();
      });
      const { run } = await toolsOf(http.server);
      expect(await run('change')).toMatchObject({ content: [{ text: 'did change ' }] });
      expect(opened).toBe(2);
      await until('the first is closed', () => [...lost].every((socket) => socket?.destroyed));
      isRefusing = true;
      await expect(run('change')).rejects.toMatchObject({ code: 'mcp_call_refused' });
      expect(opened).toBe(3);
    },
  );

  it('a 400 of a server without sessions is a refusal, and is not repeated', async () => {
    let calls = 0;
    const http = await byHttp('', {}, (_, response, { method }) => {
      if (method !== 'tools/call') return false;
      calls += 1;
      return response.writeHead(400).end();
    });
    const { run } = await toolsOf(http.server);
    await expect(run('change')).rejects.toMatchObject({ code: 'mcp_call_refused' });
    expect(calls).toBe(1);
  });

  it.each([
    [
      'made',
      (): never => {
        throw new Error('no token');
      },
    ],
    ['sent', () => ({ authorization: 'Bearer \n abc' })],
  ])('headers that cannot be %s leave nothing open: the call was not sent', async (_, wrong) => {
    const right = (): Record<string, string> => ({ authorization: 'Bearer abc-def-ghi' });
    let make = right;
    const http = await byHttp('', { headers: () => make() });
    const { run } = await toolsOf(http.server);
    make = wrong;
    await expect(run('change')).rejects.toMatchObject({ code: 'mcp_unavailable' });
    make = right;
    expect(await run('change')).toMatchObject({ content: [{ text: 'did change ' }] });
  });

  it('a redirect to another origin is refused, and the headers stay at home', async () => {
    const other = await byHttp();
    const headers = { authorization: 'Bearer secret' };
    const targets = [other.server.url];
    const http = await byHttp('', { headers }, (_, response) =>
      response.writeHead(307, { location: targets.shift() ?? '' }).end(),
    );
    targets.push(http.server.url.replace('http:', 'https:'));
    for (let n = 0; n < 2; n += 1)
      await expect(toolsOf(http.server)).rejects.toMatchObject({ code: 'mcp_address_refused' });
    expect(http.seen[0]?.headers.authorization).toBe('Bearer secret');
    expect(other.seen).toEqual([]);
  });

  it('a server that sends a client to another host for signing in leads it to public hosts only', async () => {
    const other = await byHttp();
    const { host, port } = new URL(other.server.url.replace('127.0.0.1', 'localhost'));
    const given = { authProvider: signingIn, headers: { 'x-key': 'secret' } };
    const http = await byHttp('', given, (_, response) => {
      const metadata = `resource_metadata="http://localhost:${port}/metadata"`;
      return response.writeHead(401, { 'www-authenticate': `Bearer ${metadata}` }).end();
    });
    await expect(toolsOf(http.server)).rejects.toThrow();
    expect(other.seen).toEqual([]);
    await expect(toolsOf({ ...http.server, allowedHosts: [host] })).rejects.toThrow();
    expect(other.seen).not.toEqual([]);
    // Only the tool server gets the author's headers.
    expect(http.seen[0]?.headers['x-key']).toBe('secret');
    expect(other.seen.map(({ headers }) => headers['x-key'] ?? 'none')).not.toContain('secret');
  });

  it('a name is resolved to addresses that are permitted, and to no others', async () => {
    const resolve = (isNamed: boolean): Promise<unknown> =>
      new Promise((done) => {
        const refused = () => new Error('refused');
        const lookup = guardedLookup({ isNamed, isPrivate: false }, refused);
        lookup('localhost', {}, (error, address) => done(error ?? address));
      });
    expect(await resolve(false)).toMatchObject({ message: 'refused' });
    expect(['127.0.0.1', '::1']).toContain(await resolve(true));
  });

  it('an OAuth provider gives the token, which no error of a tool shows', async () => {
    const tokens = () => ({ access_token: 'abc-def-ghi', token_type: 'bearer' });
    const authProvider = { ...signingIn, tokens };
    const http = await byHttp('', { authProvider }, ({ headers }, response, { id, method }) => {
      if (method !== 'tools/call') return false;
      const content = [{ type: 'text', text: `no: ${String(headers.authorization)}` }];
      response.setHeader('content-type', 'application/json');
      const result = { content, isError: true };
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    const { run } = await toolsOf(http.server);
    expect(http.seen[0]?.headers.authorization).toBe('Bearer abc-def-ghi');
    await expect(run('change')).rejects.toMatchObject({ message: 'no: ***' });
  });

  it('credentials that are refused have a code of their own', async () => {
    const http = await byHttp('', {}, (_, response) =>
      response.writeHead(401).end('Bearer secret'),
    );
    const refused = toolsOf(http.server);
    await expect(refused).rejects.toMatchObject({ code: 'mcp_unauthorized' });
    await expect(refused).rejects.not.toThrow('secret');
  });

  it('its own tools and other servers keep their names', async () => {
    const { server } = await byStdio();
    const tool = { name: 's_look', description: 'x', inputSchema: {}, execute: 'client' };
    expect(tool.name).toBe(toModelName('look', 's_'));
    const host = openHost();
    const { pinned, names } = await toolsOf(server, host, new Set(['s_look']));
    const named = pinned.find((each) => each.tool === 'look')?.name;
    expect(named).toMatch(/^s_look_[0-9a-f]{8}$/);
    expect(names).toContain(named);
    expect(names).not.toContain('s_look');
    // A newer release of the agent denies a tool that the run keeps.
    const denied = mcpServers({ s: { ...server, deny: ['look'] } }).toTools(pinned, host);
    expect(denied.map(({ name }) => name)).not.toContain(named);
  });
});

describe('servers of tools by HTTP', () => {
  it('a token that expires is renewed, and the call is carried out', async () => {
    let token = 'first-token';
    let renewed = 0;
    const authProvider = {
      ...signingIn,
      tokens: () => ({ access_token: token, token_type: 'bearer', refresh_token: 'again' }),
      saveTokens: ({ access_token }: { access_token: string }) => {
        token = access_token;
      },
    };
    const http = await byHttp('', { authProvider }, ({ headers }, response, { method }) => {
      if (method === 'token') {
        renewed += 1;
        const renewal = { access_token: 'second-token', token_type: 'bearer' };
        response.setHeader('content-type', 'application/json');
        return response.end(JSON.stringify(renewal));
      }
      const isOld = headers.authorization !== 'Bearer second-token';
      return method === 'tools/call' && isOld && response.writeHead(401).end('expired');
    });
    const { run } = await toolsOf(http.server);
    expect(await run('change')).toMatchObject({ content: [{ text: 'did change ' }] });
    expect(renewed).toBe(1);
  });

  it('what is open for a call that was stopped is closed', async () => {
    let isOpen = false;
    const http = await byHttp('', {}, (_, response, { method }) => {
      if (method !== 'tools/call') return false;
      response.on('close', () => (isOpen = false));
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': begun\n\n');
      return (isOpen = true);
    });
    const { run } = await toolsOf({ ...http.server, callTimeoutMs: 600_000 });
    const stop = new AbortController();
    const call = run('change', {}, stop.signal);
    await until('it has begun', () => isOpen);
    stop.abort(new Error('stopped'));
    await expect(call).rejects.toThrow('stopped');
    await until('it is closed', () => !isOpen);
    expect(await http.notes()).toContain('cancelled');
  });

  it('an answer whose connection is lost is read on from its last event', async () => {
    let asked: unknown;
    const http = await byHttp('', {}, (_, response, { id, method }) => {
      const isAgain = method === 'resume';
      if (!isAgain && method !== 'tools/call') return false;
      asked ??= id;
      const data = JSON.stringify({ jsonrpc: '2.0', id: asked, result: { content: [] } });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (isAgain) return response.end(`id: e2\nevent: message\ndata: ${data}\n\n`);
      response.write('id: e1\nretry: 1\ndata: \n\n');
      setTimeout(() => response.destroy(), 20);
      return true;
    });
    const { run } = await toolsOf(http.server);
    expect(await run('change')).toEqual({ content: [] });
    expect(http.seen.filter(({ method }) => method === 'GET')).toHaveLength(1);
  });

  it('a connection may be closed as soon as the last answer has arrived', async () => {
    const http = await byHttp('', {}, (_, response, { id, method }) => {
      if (method !== 'tools/call') return false;
      const data = JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.end(`event: message\ndata: ${data}\n\n`);
    });
    const host = openHost();
    const { run } = await toolsOf(http.server, host);
    await run('look');
    await host.close();
    // An error of a socket that no one handles would end the process here.
    await sleep(50);
  });

  it('no more connections are open than the process may have', async () => {
    const http = await byHttp('', {}, (_, response) => void response.setHeader(...SESSION));
    const left = () => http.seen.filter(({ method }) => method === 'DELETE').length;
    const host = openHost();
    connectionsOf(host, 1);
    const one = await toolsOf({ ...http.server }, host);
    expect(left()).toBe(0);
    const other = await toolsOf({ ...http.server, connectTimeoutMs: 500 }, host);
    await until('the unused one is closed', () => left() === 1);
    const stop = new AbortController();
    const slow = one.run('slow', {}, stop.signal);
    await until('it has begun', async () => (await http.notes()).includes('slow key'));
    await expect(other.run('look')).rejects.toMatchObject({ code: 'mcp_unavailable' });
    const third = toolsOf({ ...http.server }, host);
    stop.abort(new Error('stopped'));
    await expect(slow).rejects.toThrow('stopped');
    expect(await (await third).run('look')).toMatchObject({ content: [{ text: 'did look ' }] });
  });

  it('the connection that was used longest ago makes room for another', async () => {
    let opened = 0;
    const http = await byHttp('', {}, (_, response, { method }) => {
      if (method === 'initialize') opened += 1;
      response.setHeader(...SESSION);
    });
    const host = openHost();
    connectionsOf(host, 2);
    const [one] = [
      await toolsOf({ ...http.server }, host),
      await toolsOf({ ...http.server }, host),
    ];
    await one.run('look');
    await toolsOf({ ...http.server }, host);
    await one.run('look');
    expect(opened).toBe(3);
  });

  it.each([
    [500, false],
    [503, false],
    [404, true],
  ])('a server that answers %d has certainly not carried the call out: %s', (code, isUnsent) => {
    const error = Object.assign(new Error('Streamable HTTP error: no'), { code });
    expect(toFailure('s', error)).toMatchObject({ code: 'mcp_connection_lost', isUnsent });
  });
});
