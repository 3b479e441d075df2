import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endWithParent, startProcess } from '../../config/startup.js';
import { wallClock } from '../clock.js';

/** Pause between two tokens, ms. */
const EVERY_MS = 20;

/** Reports to the parent process about one request at a time. */
export type ModelNews = { kind: 'port'; port: number } | { kind: 'asked' | 'closed'; at: number };

/**
 * A model provider that speaks the chat completions protocol and never finishes: silent if the conversation
 * asks for it, else a token every 20 ms. Reports when it was asked and when its socket was closed.
 */
async function main(): Promise<void> {
  endWithParent(process);
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  tell({ kind: 'port', port: (server.address() as AddressInfo).port });
  await once(process, 'SIGTERM');
  server.closeAllConnections();
  server.close();
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = (await request.setEncoding('utf8').toArray()).join('');
  request.socket.once('close', () => {
    clearInterval(timer);
    tell({ kind: 'closed', at: wallClock() });
  });
  const isSilent = body.includes('be silent');
  const talk = (): void => {
    const choice = { index: 0, delta: { content: 'word ' }, finish_reason: null };
    const chunk = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'bench' };
    response.write(`data: ${JSON.stringify({ ...chunk, choices: [choice] })}\n\n`);
  };
  const timer = setInterval(talk, EVERY_MS);
  if (isSilent) clearInterval(timer);
  else response.writeHead(200, { 'content-type': 'text/event-stream' });
  tell({ kind: 'asked', at: wallClock() });
}

function tell(news: ModelNews): void {
  process.send?.(news);
}

startProcess(main);
