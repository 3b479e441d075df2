import { randomBytes, randomUUID } from 'node:crypto';
import { Agent, request, type IncomingMessage } from 'node:http';
import { wallClock } from '../clock.js';
import { createDataLines } from './raw-stream.js';

/** Called with the JSON of each event and the time when its bytes arrived. */
export type OnEvent = (json: string, at: number) => void;

export interface ChatClient {
  /** Sends a message; resolves when the reply is complete, rejects if it is cut. */
  say: (sessionId: string, text: string, onEvent?: OnEvent) => Promise<void>;
  /** Answers a waiting call; resolves when the answer is stored. */
  answer: (sessionId: string, toolCallId: string, answer: unknown) => Promise<void>;
  /** Requests a stop; resolves when it is recorded. */
  stop: (sessionId: string) => Promise<void>;
  close: () => void;
}

/** Creates a cheap chat client, so that one process can read 200 replies. */
export function createChatClient(port: number, agentName = 'lab'): ChatClient {
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });

  function post(path: string, content: unknown, onEvent: OnEvent): Promise<void> {
    const body = JSON.stringify(content);
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    return new Promise((resolve, reject) => {
      const options = { agent, host: '127.0.0.1', port, path, method: 'POST', headers };
      request(options, (reply) => {
        readReply(reply, onEvent).then(resolve, reject);
      })
        .once('error', reject)
        .end(body);
    });
  }

  return {
    say: (sessionId, text, onEvent = () => undefined) => {
      const message = { id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] };
      const content = { id: sessionId, agent: agentName, messages: [message] };
      return post(`/api/chat/${sessionId}`, content, onEvent);
    },
    answer: (sessionId, toolCallId, answer) =>
      post(`/api/chat/${sessionId}/pending/${toolCallId}`, answer, () => undefined),
    stop: (sessionId) => post(`/api/chat/${sessionId}/stop`, {}, () => undefined),
    close: () => {
      agent.destroy();
    },
  };
}

function readReply(reply: IncomingMessage, onEvent: OnEvent): Promise<void> {
  const status = reply.statusCode ?? 0;
  let refusal = '';
  const takeLines = createDataLines(onEvent);
  reply.setEncoding('utf8');
  reply.on('data', (piece: string) => {
    if (status < 300) takeLines(piece, wallClock());
    else refusal += piece;
  });
  return new Promise((resolve, reject) => {
    reply.once('error', reject);
    reply.once('close', () => {
      if (!reply.complete) reject(new Error('the reply was cut'));
      else if (status >= 300) reject(new Error(`refused with ${String(status)}: ${refusal}`));
      else resolve();
    });
  });
}

/** Returns a session id that no earlier measurement on these servers has used. */
export function newSessionId(): string {
  return `bench-${randomBytes(9).toString('base64url')}`;
}
