import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { listen } from './listen.js';

/** The `error` object of the wire. */
interface OpenAIError {
  message: string;
  type?: string;
  code?: string | null;
}

interface StreamedReply {
  text?: readonly string[];
  /** Calls with the pieces of the JSON text of their arguments. */
  calls?: readonly { id: string; name: string; argumentDeltas: readonly string[] }[];
  /** Time between two events, in ms. */
  everyMs?: number;
  /** Destroys the socket after this many deltas; bytes in flight are lost. */
  cutAfter?: number;
  /** Sends this as an error event after the deltas, in place of an end. */
  error?: OpenAIError;
}

export type OpenAIReply =
  StreamedReply | { status: number; error: OpenAIError; retryAfter?: string };

export interface OpenAIRequest {
  path: string | undefined;
  headers: IncomingHttpHeaders;
  body: unknown;
  /** Resolves when the connection is closed: true if the client left before the end. */
  aborted: Promise<boolean>;
}

export interface OpenAIServer {
  /** Value for `OPENAI_BASE_URL`; ends in `/v1`. */
  readonly baseUrl: string;
  readonly requests: readonly OpenAIRequest[];
  close: () => Promise<void>;
}

/**
 * Creates an HTTP server on a free port that streams OpenAI chat completions.
 *
 * @param replies to the requests, in order
 */
export async function createOpenAIServer(replies: readonly OpenAIReply[]): Promise<OpenAIServer> {
  const requests: OpenAIRequest[] = [];
  const server = createServer((incoming, response) => {
    const aborted = new Promise<boolean>((resolve) => {
      response.once('close', () => resolve(!response.writableFinished));
    });
    json(incoming)
      .then(async (body) => {
        const reply = replies[requests.length] ?? { text: ['?'] };
        requests.push({ path: incoming.url, headers: incoming.headers, body, aborted });
        if ('status' in reply) sendRefusal(response, reply);
        else await sendReply(response, reply);
      })
      // The client may leave in the middle; `aborted` reports it.
      .catch(() => response.destroy());
  });
  const { url, close } = await listen(server);
  return { baseUrl: `${url}/v1`, requests, close };
}

async function sendReply(response: ServerResponse, reply: StreamedReply): Promise<void> {
  const { everyMs = 0, cutAfter = Infinity, error, calls = [] } = reply;
  const send = (event: object): void => {
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let deltas = 0;
  for (const { delta, isPiece } of toDeltas(reply)) {
    if (isPiece && deltas === cutAfter) break;
    if (isPiece) deltas += 1;
    send(toChunk({ delta, finish_reason: null }));
    // Events travel one by one, as they do on a network.
    await delay(everyMs);
    if (response.destroyed) return;
  }
  if (deltas === cutAfter) {
    response.destroy();
    return;
  }
  if (error) {
    send({ error });
  } else {
    send(toChunk({ delta: {}, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }));
    const counts = { prompt_tokens: 10, completion_tokens: deltas, total_tokens: 10 + deltas };
    send({ ...toChunk(), usage: counts });
  }
  response.end('data: [DONE]\n\n');
}

function sendRefusal(
  response: ServerResponse,
  { status, error, retryAfter }: Extract<OpenAIReply, { status: number }>,
): void {
  if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { type: 'error', code: null, param: null, ...error } }));
}

function* toDeltas({
  text = [],
  calls = [],
}: StreamedReply): Generator<{ delta: object; isPiece: boolean }> {
  yield { delta: { role: 'assistant', content: '' }, isPiece: false };
  for (const content of text) yield { delta: { content }, isPiece: true };
  for (const [index, { id, name, argumentDeltas }] of calls.entries()) {
    const start = { index, id, type: 'function', function: { name, arguments: '' } };
    yield { delta: { tool_calls: [start] }, isPiece: false };
    for (const piece of argumentDeltas) {
      yield { delta: { tool_calls: [{ index, function: { arguments: piece } }] }, isPiece: true };
    }
  }
}

function toChunk(choice?: object): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'gpt-test',
    choices: choice ? [{ index: 0, ...choice }] : [],
  };
}
