import { EventSourceParserStream, ParseError } from 'eventsource-parser/stream';
import { LIMITS } from '../../protocol/limits.js';
import { endsWithin } from '../../protocol/time.js';
import { parseStreamEvent, type WireEvent } from '../../protocol/agent-server.js';
import { RemoteRefusal, type RemoteAgentTransport, type RemoteStart } from './remote-transport.js';

export interface HttpRemoteAgentOptions {
  /** URL of the other server's agent routes: `https://agents.example.com/api/agent`. */
  url: string;
  /** Sent with every request; a function is called each time, for tokens that expire. */
  headers?:
    Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>);
  fetch?: typeof fetch;
}

const REQUEST_MS = 10_000;
/** The other server sends comments while it has no events; a connection without either is dead. */
const SILENCE_MS = 45_000;

/** A refusal is a short JSON object; a longer body is not read. */
const REFUSAL_BYTES = 64 * 1024;
/** Codes are shown to models and people. */
const CODE = /^[A-Za-z0-9_.-]{1,64}$/;

/** Reaches agents through the agent routes of another server. */
export class HttpRemoteAgentTransport implements RemoteAgentTransport {
  readonly #url: string;
  readonly #headers: () => Promise<Record<string, string>>;
  readonly #fetch: typeof fetch;

  constructor({ url, headers = {}, fetch: send = fetch }: HttpRemoteAgentOptions) {
    this.#url = url.replace(/\/+$/, '');
    this.#headers = async () => (typeof headers === 'function' ? headers() : headers);
    this.#fetch = send;
  }

  async start(run: RemoteStart, signal: AbortSignal): Promise<void> {
    await this.#post('start', run, endsWithin(REQUEST_MS, signal));
  }

  async *follow(
    sessionId: string,
    fromSequence: number,
    signal: AbortSignal,
  ): AsyncGenerator<WireEvent> {
    const silence = new AbortController();
    const beat = (): NodeJS.Timeout =>
      setTimeout(() => silence.abort(new Error('the connection has gone silent')), SILENCE_MS);
    let timer = beat();
    try {
      const query = new URLSearchParams({ sessionId });
      const response = await this.#ask(`sse?${query.toString()}`, {
        headers: {
          ...(await this.#headers()),
          accept: 'text/event-stream',
          'last-event-id': String(fromSequence),
        },
        signal: AbortSignal.any([signal, silence.signal]),
      });
      if (response.body === null) return;
      const watched = new TransformStream<Uint8Array, Uint8Array>({
        transform: (bytes, controller) => {
          clearTimeout(timer);
          timer = beat();
          controller.enqueue(bytes);
        },
      });
      const events = response.body
        .pipeThrough(watched)
        .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
        .pipeThrough(new EventSourceParserStream({ maxBufferSize: LIMITS.remoteEventChars }));
      for await (const { id, data } of events) {
        const event = parseStreamEvent(data);
        // Only a later version knows the type of this event.
        if (event === undefined) continue;
        const sequence = Number(id);
        yield { ...(Number.isSafeInteger(sequence) && { id: sequence }), event };
      }
    } catch (error) {
      if (!(error instanceof ParseError)) throw error;
      throw new RemoteRefusal('event_too_large', 'An event of the remote agent has no end.');
    } finally {
      clearTimeout(timer);
    }
  }

  async stop(sessionId: string, mode: 'interrupt' | 'abort', reason: string): Promise<void> {
    await this.#post(mode, { sessionId, reason }, AbortSignal.timeout(REQUEST_MS));
  }

  async #post(path: string, body: object, signal: AbortSignal): Promise<void> {
    const response = await this.#ask(path, {
      method: 'POST',
      headers: { ...(await this.#headers()), 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    });
    await response.body?.cancel();
  }

  /** A redirect would carry headers with keys, and the message, to an address that the host did not configure. */
  async #ask(path: string, init: RequestInit): Promise<Response> {
    const response = await this.#fetch(`${this.#url}/${path}`, { ...init, redirect: 'manual' });
    if (response.ok) return response;
    throw await toFailure(response);
  }
}

/** A refusal is final; an overloaded or broken server may answer the next time. */
async function toFailure(response: Response): Promise<Error> {
  const { status, type } = response;
  if (type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    await response.body?.cancel();
    return new RemoteRefusal('redirected', 'The remote agent server points elsewhere.');
  }
  const body = await readRefusal(response).catch(() => undefined);
  if (status >= 500 || status === 408 || status === 429) {
    return new Error(`the remote agent server answered ${String(status)}`);
  }
  if (status === 404) return new RemoteRefusal('not_found', 'There is no such remote run.');
  const sent = typeof body === 'object' && body !== null ? (body as { code?: unknown }).code : '';
  const code = typeof sent === 'string' && CODE.test(sent) ? sent : `http_${String(status)}`;
  return new RemoteRefusal(code, `The remote agent server refuses: ${code}.`);
}

async function readRefusal(response: Response): Promise<unknown> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > REFUSAL_BYTES) return undefined;
    parts.push(part);
  }
  return JSON.parse(Buffer.concat(parts).toString('utf8')) as unknown;
}
