import { afterEach, describe, expect, it } from '@jest/globals';
import { defineAgent, type McpServer, type ToolContext } from '../../agents/index.js';
import { createMcpConnections } from '../../agents/mcp/mcp-connections.js';
import { hasServers, listMcpTools, withMcpTools } from '../../agents/mcp/mcp-tools.js';
import { byHttp } from '../support/mcp-servers.js';

const never = new AbortController().signal;
const quiet = { info: () => undefined, warn: () => undefined };
const open: { close: () => Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

/** Calls a tool of the server named `s`. */
async function callerOf(server: McpServer) {
  const connections = createMcpConnections(quiet);
  open.push(connections);
  const agent = defineAgent({
    ...{ name: 'a', systemPrompt: '', mcpServers: { s: server } },
    llmConfig: { model: 'scripted' },
  });
  if (!hasServers(agent)) throw new Error('it has a server');
  const { tools } = withMcpTools(
    agent,
    await listMcpTools(agent, connections, quiet, never),
    connections,
  );
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
});
