import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface OpenAIToolCall {
  readonly id: string;
  readonly name: string;
  /** Pieces of the JSON text of the arguments. */
  readonly argumentDeltas: readonly string[];
}

export type OpenAIReply =
  | {
      readonly text?: readonly string[];
      readonly calls?: readonly OpenAIToolCall[];
      /** Silence before the first event, in ms. */
      readonly hangMs?: number;
      /** Time between two events, in ms. */
      readonly everyMs?: number;
      /** Destroys the socket after this many deltas; bytes in flight are lost. */
      readonly cutAfter?: number;
      /** Sends this as an error event after the deltas, in place of an end. */
      readonly error?: OpenAIError;
    }
  | { readonly status: number; readonly error: OpenAIError; readonly retryAfter?: string };

/** The `error` object of the wire. */
export interface OpenAIError {
  readonly message: string;
  readonly type?: string;
  readonly code?: string | null;
}

export interface OpenAIRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: {
    readonly model: string;
    readonly stream?: boolean;
    readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
    readonly tools?: readonly { readonly function: { readonly name: string } }[];
  } & Readonly<Record<string, unknown>>;
  /** Resolves when the connection is closed: true if the client left before the end. */
  readonly aborted: Promise<boolean>;
}

export interface OpenAIServer {
  /** Value for `OPENAI_BASE_URL`; ends in `/v1`. */
  readonly baseUrl: string;
  readonly requests: readonly OpenAIRequest[];
  readonly close: () => Promise<void>;
}

/**
 * Creates an HTTP server on a free port that streams OpenAI chat completions.
 *
 * @param reply decides the reply to each request; `index` counts the requests from 0
 */
export async function createOpenAIServer(
  reply: (request: OpenAIRequest, index: number) => OpenAIReply,
): Promise<OpenAIServer> {
  const requests: OpenAIRequest[] = [];
  const server = createServer((incoming, response) => {
    readRequest(incoming, response)
      .then(async (request) => {
        requests.push(request);
        await sendReply(response, request, reply(request, requests.length - 1));
      })
      // The client may leave in the middle; `aborted` reports it.
      .catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${String(port)}/v1`,
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function readRequest(
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<OpenAIRequest> {
  const aborted = new Promise<boolean>((resolve) => {
    response.once('close', () => {
      resolve(!response.writableFinished);
    });
  });
  const text = (await incoming.setEncoding('utf8').toArray()).join('');
  const body = JSON.parse(text) as OpenAIRequest['body'];
  return { path: incoming.url ?? '', headers: incoming.headers, body, aborted };
}

async function sendReply(
  response: ServerResponse,
  { body, path, aborted }: OpenAIRequest,
  reply: OpenAIReply,
): Promise<void> {
  const gone = new AbortController();
  void aborted.then(() => {
    gone.abort();
  });
  if (path !== '/v1/chat/completions') {
    sendRefusal(response, { status: 404, error: { message: `No route ${path}.` } });
    return;
  }
  if ('status' in reply) {
    sendRefusal(response, reply);
    return;
  }
  const { hangMs = 0, everyMs = 0, cutAfter = Infinity } = reply;
  const { signal } = gone;
  // Even without a wait, events travel one by one, as they do on a network.
  const pause = (ms: number): Promise<unknown> =>
    ms > 0 ? delay(ms, undefined, { signal }) : new Promise(setImmediate);
  const send = (event: unknown): void => {
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  };
  await pause(hangMs);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let deltas = 0;
  for (const { delta, isPiece } of toDeltas(reply)) {
    if (isPiece && deltas === cutAfter) break;
    if (isPiece) deltas += 1;
    send(toChunk(body.model, { delta, finish_reason: null }));
    await pause(everyMs);
  }
  if (deltas === cutAfter) {
    response.destroy();
    return;
  }
  if (reply.error) {
    send({ error: reply.error });
  } else {
    const reason = reply.calls?.length ? 'tool_calls' : 'stop';
    send(toChunk(body.model, { delta: {}, finish_reason: reason }));
    send({ ...toChunk(body.model), usage: toUsage(deltas) });
  }
  response.end('data: [DONE]\n\n');
}

function sendRefusal(
  response: ServerResponse,
  { status, error, retryAfter }: Extract<OpenAIReply, { status: number }>,
): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
  });
  response.end(JSON.stringify({ error: { type: 'error', code: null, param: null, ...error } }));
}

function* toDeltas({
  text = [],
  calls = [],
}: Exclude<OpenAIReply, { status: number }>): Generator<{ delta: object; isPiece: boolean }> {
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

function toChunk(model: string, choice?: object): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model,
    choices: choice ? [{ index: 0, ...choice }] : [],
  };
}

function toUsage(deltas: number): object {
  return { prompt_tokens: 10, completion_tokens: deltas, total_tokens: 10 + deltas };
}
