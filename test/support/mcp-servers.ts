import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { HttpMcpServer, StdioMcpServer } from '../../extensions/mcp/index.js';
import { listen } from './listen.js';
// @ts-expect-error A program without types.
import { answerOf as answerOfAny } from './hostile-mcp.mjs';

interface JsonRpc {
  id?: number;
  method: string;
  params?: unknown;
}
type Answer = (request: JsonRpc) => object | undefined;
const answerOf = answerOfAny as (
  mode: string,
  to: { leave: () => undefined; note: (line: string) => void },
) => Answer;

const PROGRAM = fileURLToPath(new URL('hostile-mcp.mjs', import.meta.url));

export interface NotedServer<Server> {
  server: Server;
  notes: () => Promise<string[]>;
}

export async function byStdio(
  mode = '',
  more: Partial<StdioMcpServer> = {},
): Promise<NotedServer<StdioMcpServer>> {
  const file = join(await mkdtemp(join(tmpdir(), 'mcp-')), 'notes');
  return {
    server: { command: process.execPath, args: [PROGRAM, mode, file], ...more },
    notes: async () => (await readFile(file, 'utf8').catch(() => '')).split('\n').slice(0, -1),
  };
}

/** Returns something true if it has answered in place of the server. */
type Respond = (request: IncomingMessage, response: ServerResponse, asked: JsonRpc) => unknown;

/** Starts the hostile server over HTTP until the end of the test file. */
export async function byHttp(
  mode = '',
  more: Partial<HttpMcpServer> = {},
  respond: Respond = () => false,
): Promise<NotedServer<HttpMcpServer> & { close: () => Promise<void>; seen: IncomingMessage[] }> {
  const lines: string[] = [];
  const seen: IncomingMessage[] = [];
  let leave: () => void = () => undefined;
  const answer = answerOf(mode, {
    note: (line) => lines.push(line),
    leave: () => {
      leave();
      return undefined;
    },
  });
  const server = createServer((request, response) => {
    seen.push(request);
    void text(request).then((body) => {
      if (body === '') {
        const isAgain = request.headers['last-event-id'] !== undefined;
        if (isAgain && respond(request, response, { method: 'resume' })) return;
        response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
        return;
      }
      const isForm = request.headers['content-type']?.includes('form') === true;
      if (isForm && respond(request, response, { method: 'token' })) return;
      const asked = JSON.parse(body) as JsonRpc;
      if (asked.method === 'notifications/cancelled') lines.push('cancelled');
      if (asked.id === undefined) {
        response.writeHead(202).end();
        return;
      }
      if (respond(request, response, asked)) return;
      leave = () => response.destroy();
      const given = answer(asked);
      if (given === undefined) return;
      const reply = JSON.stringify({ jsonrpc: '2.0', id: asked.id, ...given });
      response.writeHead(200, { 'content-type': 'application/json' }).end(reply);
    });
  });
  const { url, close } = await listen(server);
  return {
    server: { url: `${url}/mcp`, ...more },
    notes: () => Promise.resolve(lines),
    seen,
    close,
  };
}
