import { createToolHost } from '../../../activities/index.js';
import type { ToolContext } from '../../../agents/index.js';
import { connectionsOf } from '../../../extensions/mcp/connections.js';
import { mcpServers, type McpServer } from '../../../extensions/mcp/index.js';
import { createRedact, keepSecret } from '../../../extensions/mcp/secrets.js';
import { byHttp } from '../../support/mcp-servers.js';
import { until } from '../../support/until.js';

const never = new AbortController().signal;
const quiet = { info: () => undefined, warn: () => undefined };
const open: { close: () => Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

/** Returns a function that calls a tool of the server `s`. */
async function callerOf(server: McpServer, host = createToolHost(quiet)) {
  open.push(host);
  const source = mcpServers({ s: server });
  const tools = source.toTools(await source.list(new Set(), host, never), host);
  return async (name: string, signal = never): Promise<unknown> => {
    const execute = tools.find((each) => each.name === `s_${name}`)?.execute;
    if (typeof execute !== 'function') throw new Error(`no tool ${name}`);
    return execute({}, { idempotencyKey: 'key', abortSignal: signal } as ToolContext);
  };
}

describe('servers of tools by HTTP', () => {
  it('a token that expires is renewed, and the call is carried out', async () => {
    let token = 'first-token';
    let renewed = 0;
    const authProvider = {
      redirectUrl: 'http://localhost/callback',
      clientMetadata: { redirect_uris: ['http://localhost/callback'] },
      clientInformation: () => ({ client_id: 'c' }),
      redirectToAuthorization: () => undefined,
      saveCodeVerifier: () => undefined,
      codeVerifier: () => 'v',
      tokens: () => ({ access_token: token, token_type: 'bearer', refresh_token: 'again' }),
      saveTokens: ({ access_token }: { access_token: string }) => {
        token = access_token;
      },
    };
    const http = await byHttp('', { authProvider }, ({ headers }, response, { method }, answer) => {
      const json = { 'content-type': 'application/json' };
      if (method === 'token') {
        renewed += 1;
        const renewal = { access_token: 'second-token', token_type: 'bearer' };
        response.writeHead(200, json).end(JSON.stringify(renewal));
      } else if (method === 'tools/call' && headers.authorization !== 'Bearer second-token') {
        response.writeHead(401).end('expired');
      } else {
        response.writeHead(200, json).end(JSON.stringify(answer()));
      }
    });
    open.push(http);
    const run = await callerOf(http.server);
    expect(await run('change')).toMatchObject({ content: [{ text: 'did change ' }] });
    expect(renewed).toBe(1);
  });

  it('what is open for a call that was stopped is closed', async () => {
    let isOpen = false;
    const http = await byHttp('', {}, (_, response, { method }, answer) => {
      if (method !== 'tools/call') {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(answer()));
        return;
      }
      response.on('close', () => (isOpen = false));
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': begun\n\n');
      isOpen = true;
    });
    open.push(http);
    const run = await callerOf(http.server);
    const stop = new AbortController();
    const call = run('change', stop.signal);
    await until('it has begun', () => isOpen);
    stop.abort(new Error('stopped'));
    await expect(call).rejects.toThrow('stopped');
    await until('it is closed', () => !isOpen);
    expect(await http.notes()).toContain('cancelled');
  });

  it('no more connections are open than the process may have', async () => {
    const http = await byHttp('', {}, (_, response, { method, params }, answer) => {
      const given = answer();
      const isSlow = method === 'tools/call' && JSON.stringify(params).includes('"slow"');
      if (isSlow) return;
      const headers = { 'content-type': 'application/json', 'mcp-session-id': 'one' };
      response.writeHead(200, headers).end(JSON.stringify(given));
    });
    open.push(http);
    const left = () => http.seen.filter(({ method }) => method === 'DELETE').length;
    const host = createToolHost(quiet);
    connectionsOf(host, 1);
    const one = await callerOf({ ...http.server }, host);
    expect(left()).toBe(0);
    const other = await callerOf({ ...http.server, connectTimeoutMs: 500 }, host);
    await until('the unused one is closed', () => left() === 1);
    const stop = new AbortController();
    const slow = one('slow', stop.signal);
    await until('it has begun', async () => (await http.notes()).includes('slow key'));
    await expect(other('look')).rejects.toMatchObject({ code: 'mcp_unavailable' });
    const third = callerOf({ ...http.server }, host);
    stop.abort(new Error('stopped'));
    await expect(slow).rejects.toThrow('stopped');
    expect(await (await third)('look')).toMatchObject({ content: [{ text: 'did look ' }] });
  });

  it('secrets: the newest are kept, and plain headers stay', () => {
    const secrets = new Set<string>();
    for (let n = 0; n < 1_000; n += 1) keepSecret(secrets, `secret-${String(n)}`);
    expect(secrets.size).toBe(100);
    const headers = { Accept: 'application/json', 'x-key': 'my-secret' };
    const redact = createRedact({ url: 'https://x.example', headers }, secrets);
    expect(redact('application/json my-secret secret-999')).toBe('application/json *** ***');
  });
});
