import type { UIMessage, UIMessageChunk } from 'ai';
import type { SessionEvent } from '../../protocol/replies.js';
import type { Fetch, Snapshot } from '../../web/src/api-client.js';

/** An event stream that a test controls. */
export class Wire {
  readonly response: Response;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(headers: Record<string, string> = {}) {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
    });
    this.response = new Response(body, {
      headers: { 'content-type': 'text/event-stream', ...headers },
    });
  }

  send(...chunks: (UIMessageChunk | SessionEvent)[]): this {
    return this.sendText(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(''));
  }

  sendText(text: string): this {
    this.#controller?.enqueue(new TextEncoder().encode(text));
    return this;
  }

  end(): this {
    this.#controller?.close();
    return this;
  }

  /** Breaks the connection in the middle, as a browser reports it. */
  cut(): this {
    this.#controller?.error(new TypeError('network error'));
    return this;
  }
}

export interface SeenRequest {
  name: string;
  headers: Headers;
  body: {
    messages: UIMessage[];
    messageId?: string;
    trigger: string;
    agent?: string;
    busy?: string;
  };
}

type Name =
  'POST' | 'POST stop' | 'GET stream' | 'GET snapshot' | 'GET queue' | 'PATCH queue' | 'GET events';
type Reply = (request: SeenRequest) => Response | Promise<Response>;

/** Answers each kind of request with its scripted replies, in order. */
export class WireServer {
  readonly seen: SeenRequest[] = [];
  readonly #replies = new Map<string, Reply[]>();

  on(name: Name, ...replies: Reply[]): this {
    this.#replies.set(name, [...(this.#replies.get(name) ?? []), ...replies]);
    return this;
  }

  named(name: string): SeenRequest[] {
    return this.seen.filter((request) => request.name === name);
  }

  readonly send: Fetch = async (input, init) => {
    const tail = /\/(stream|snapshot|stop|queue|events)$/.exec(
      input instanceof Request ? input.url : input.toString(),
    )?.[1];
    const name = [init?.method ?? 'GET', tail].filter(Boolean).join(' ');
    const text = typeof init?.body === 'string' ? init.body : '{}';
    const body = JSON.parse(text) as SeenRequest['body'];
    const request = { name, headers: new Headers(init?.headers), body };
    this.seen.push(request);
    const reply = this.#replies.get(name)?.shift();
    const isQuiet = name === 'GET events' || name === 'GET stream';
    if (reply === undefined && isQuiet) return new Response(null, { status: 204 });
    if (reply === undefined) throw new Error(`${name} is not expected.`);
    return reply(request);
  };
}

export const unreachable: Reply = () => {
  throw new TypeError('Failed to fetch');
};

export function refusal(status: number, code: string): Reply {
  return () => Response.json({ error: `refused: ${code}`, code }, { status });
}

export const said = (id: string, text: string, role: UIMessage['role'] = 'user'): UIMessage => ({
  id,
  role,
  parts: [{ type: 'text', text }],
});

export function snapshot(
  status: Snapshot['status'],
  messages: UIMessage[],
  streamSequence = 7,
): Snapshot {
  return { state: null, messages, streamSequence, status, checkpointId: null, timestamp: 0 };
}

export function reply(value: Snapshot | Wire): Reply {
  return () => (value instanceof Wire ? value.response : Response.json(value));
}

/** Returns the chunks of a short reply, or only its beginning. */
export function spoken(id: string, text: string, finished = true): UIMessageChunk[] {
  const begun: UIMessageChunk[] = [
    { type: 'start', messageId: id },
    { type: 'start-step' },
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', delta: text },
  ];
  if (!finished) return begun;
  return [
    ...begun,
    { type: 'text-end', id: '0' },
    { type: 'finish-step' },
    { type: 'finish', finishReason: 'stop' },
  ];
}
