import {
  ChatRequestError,
  createResumableChatTransport,
  type Patience,
} from '../../../ai-sdk/client/index.js';
import { AgentTurn, type AgentTurnSpan } from '../../../ai-sdk/client/agent-turn.js';
import { receive } from '../../../ai-sdk/client/connections.js';
import { toPatience } from '../../../ai-sdk/client/patience.js';
import { HEADERS } from '../../../protocol/ids.js';
import { until } from '../../support/until.js';

const MESSAGE = { id: 'u1', role: 'user' as const, parts: [{ type: 'text', text: 'hello' }] };
const options = {
  trigger: 'submit-message' as const,
  chatId: 's1',
  messageId: undefined,
  messages: [MESSAGE],
  abortSignal: undefined,
};
const refusal = (status: number, code: string): Response =>
  Response.json({ error: 'no', code }, { status });

const START = 'data: {"type":"start","messageId":"m1"}\n\n';
const BEGIN =
  'data: {"type":"start"}\n\ndata: {"type":"text-start","id":"t"}\n\n' +
  'id: 1\ndata: {"type":"text-delta","id":"t","delta":"a"}\n\n';
const END =
  'id: 2\ndata: {"type":"text-end","id":"t"}\n\ndata: {"type":"finish"}\n\ndata: [DONE]\n\n';
const BROKEN =
  'data: {"type":"data-stream-resync","data":{},"transient":true}\n\n' +
  'data: {"type":"error","errorText":"gone"}\n\n';

/** A connection that nobody ends. */
function silent(text: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode(text));
    },
  });
}

/** A transport whose requests get the given replies in turn; what it reported, and how often it asked. */
const openTransport = (...replies: (Response | Error)[]) => openPatient({}, ...replies);
function openPatient(
  patience: Partial<Patience> & { headers?: Record<string, string> },
  ...replies: (Response | Error)[]
) {
  const changes: boolean[] = [];
  const positions: (string | null)[][] = [];
  let requests = 0;
  const transport = createResumableChatTransport({
    api: 'http://chat.test/api/chat',
    retryDelayMs: () => 0,
    ...patience,
    onConnectionChange: (isConnected) => changes.push(isConnected),
    fetch: (_url, init) => {
      const headers = new Headers(init?.headers);
      positions.push(
        [HEADERS.lastEventId, HEADERS.resumeFromSequence].map((of) => headers.get(of)),
      );
      const reply = replies[requests] ?? refusal(500, 'internal_error');
      requests += 1;
      return reply instanceof Error ? Promise.reject(reply) : Promise.resolve(reply);
    },
  });
  return { transport, changes, positions, asked: () => requests };
}

/** Sends the message and returns the types of the reply's parts; `parts` has those before an error. */
async function readReply(
  transport: ReturnType<typeof createResumableChatTransport>,
  parts: string[] = [],
): Promise<string[]> {
  for await (const { type } of await transport.sendMessages(options)) parts.push(type);
  return parts;
}

describe('a resumable transport', () => {
  it('a resumable transport reports that a request does not get through, and that it did', async () => {
    const { transport, changes } = openTransport(
      new TypeError('Failed to fetch'),
      refusal(503, 'unavailable'),
      new Response('data: {"type":"start"}\n\ndata: {"type":"finish"}\n\ndata: [DONE]\n\n'),
    );
    expect(await readReply(transport)).toEqual(['start', 'finish']);
    expect(changes).toEqual([false, true]);
  });

  it.each(['queue_full', 'quota_exceeded'])(
    'a resumable transport gives up at once on a refusal that lasts: %s',
    async (code) => {
      const { transport, changes, asked } = openTransport(refusal(429, code));
      await expect(transport.sendMessages(options)).rejects.toThrow(ChatRequestError);
      expect([asked(), changes]).toEqual([1, []]);
    },
  );

  it('a page that stops while its transport waits is not left with a lost connection', async () => {
    const stop = new AbortController();
    const away = new TypeError('Failed to fetch');
    const { transport, changes, asked } = openPatient({ retryDelayMs: () => 60_000 }, away);
    const sent = transport.sendMessages({ ...options, abortSignal: stop.signal });
    await until('it waits', () => changes.length === 1);
    stop.abort();
    await expect(sent).rejects.toThrow('aborted');
    expect([asked(), changes]).toEqual([1, [false, true]]);
  });

  it('a resumable transport does not send a request again that repeats a turn', async () => {
    const { transport, asked } = openTransport(new TypeError('Failed to fetch'));
    const again = transport.sendMessages({ ...options, trigger: 'regenerate-message' });
    await expect(again).rejects.toThrow('Failed to fetch');
    expect(asked()).toBe(1);
  });

  it('a resumable transport takes a resync with an id for a part of the reply', async () => {
    const resync = 'id: 2\ndata: {"type":"data-stream-resync","data":{},"transient":true}\n\n';
    const { transport, asked } = openTransport(new Response(BEGIN + resync + END));
    const parts = [];
    for await (const part of await transport.sendMessages(options)) parts.push(part.type);
    expect([parts.at(-1), asked()]).toEqual(['finish', 1]);
  });

  it('a resumable transport follows a long silent call over tokens that each end while it waits', async () => {
    const replies = [BEGIN, ...Array.from({ length: 5 }, () => ': keep-alive\n\n'), END];
    const { transport, asked } = openPatient(
      { giveUpAfterMs: 1 },
      ...replies.map((text) => new Response(text)),
    );
    expect((await readReply(transport)).at(-1)).toBe('finish');
    expect(asked()).toBe(replies.length);
  });

  it('a turn that nobody reads is awaited over connections that each bring an event', async () => {
    const chunk = { type: 'chunk', chunk: { type: 'text_delta', agentId: 's1', delta: 'a' } };
    const events = [...Array.from({ length: 5 }, () => chunk), { type: 'end' }];
    const status = { sessionId: 's1', messageId: 'm1', stream: 'active', pending: [] };
    const span = { status, from: 0, isTail: true, isUnread: true } as unknown as AgentTurnSpan;
    const turn = new AgentTurn(span, async (after) => {
      const data = JSON.stringify(events[after]);
      return new Response(`id: ${String(after + 1)}\ndata: ${data}\n\n`);
    });
    const patience = toPatience({ giveUpAfterMs: 1, retryDelayMs: () => 2 });
    for await (const _ of receive(turn, patience, new AbortController().signal));
    expect(turn.isOver).toBe(true);
  });

  it.each([
    ['a turn that waits', 'paused', true],
    ['a turn that went on', 'active', false],
  ])('the pause of %s, status %s, ends its reply: %s', (_, stream, isOver) => {
    const marks = { latestSequence: 5, pauseSequence: 3, stream, pending: [] };
    const status = { sessionId: 's1', messageId: 'm1', ...marks };
    const span = { status, from: 2, isTail: true } as unknown as AgentTurnSpan;
    const turn = new AgentTurn(span, () => Promise.resolve(new Response()));
    turn.take([{ id: '3', data: JSON.stringify({ type: 'status', status: 'paused' }) }]);
    expect(turn.isOver).toBe(isOver);
  });

  it('a log that lost what the page has read withdraws its reply', async () => {
    const status = { sessionId: 's1', messageId: 'm1', stream: 'active', pending: [] };
    const span = { status, from: 9, isTail: true } as unknown as AgentTurnSpan;
    const refused = new ChatRequestError(409, '{"error":"Lost.","code":"rewound"}');
    const turn = new AgentTurn(span, () => Promise.reject(refused));
    await expect(turn.open()).rejects.toMatchObject({ reason: 'withdrawn', cause: refused });
  });

  it.each([
    ['each break once it begins', START, () => new Response(START)],
    ['a proxy refuses in the end', BEGIN, () => refusal(502, 'unavailable')],
    ['a development proxy refuses in the end', BEGIN, () => new Response('', { status: 500 })],
  ])('a resumable transport gives up a reply whose connections %s', async (_, begin, reconnect) => {
    const begins = [new Response(begin), ...Array.from({ length: 500 }, reconnect)];
    const { transport, asked } = openPatient({ giveUpAfterMs: 5 }, ...begins);
    await expect(readReply(transport)).rejects.toMatchObject({ reason: 'unreachable' });
    expect(asked()).toBeLessThan(begins.length);
  });

  it('a resumable transport shows nothing twice that a server sends again', async () => {
    const { transport } = openTransport(new Response(BEGIN), new Response(BEGIN + END));
    const parts: string[] = [];
    await expect(readReply(transport, parts)).rejects.toMatchObject({ reason: 'withdrawn' });
    expect(parts).toEqual(['start', 'text-start', 'text-delta']);
  });

  it('a resumable transport reports a reply that the server cannot continue', async () => {
    const { transport } = openTransport(new Response(BEGIN), new Response(null, { status: 204 }));
    await expect(readReply(transport)).rejects.toMatchObject({
      reason: 'withdrawn',
      cause: { message: expect.stringContaining('ended before its end') as unknown },
    });
  });

  it('a resumable transport asks again when the server is busy for a moment', async () => {
    const { transport, asked } = openTransport(
      refusal(429, 'too_many_requests'),
      refusal(400, 'nothing_to_do'),
    );
    await expect(transport.sendMessages(options)).rejects.toMatchObject({ code: 'nothing_to_do' });
    expect(asked()).toBe(2);
  });

  it.each([
    ['that ends before its end', () => new Response(BEGIN), {}],
    // The end of this chunk, with its id, did not arrive.
    [
      'that ends within a chunk',
      () => new Response(`${BEGIN}data: {"type":"text-end","id":"t"}\n\n`),
      {},
    ],
    ['that falls silent', () => new Response(silent(BEGIN)), { longestSilenceMs: 200 }],
    // Its connection is given up at once, however long a silence may last.
    [
      'that says that it breaks off',
      () => new Response(silent(BEGIN + BROKEN)),
      { longestSilenceMs: 2 ** 30 },
    ],
  ])(
    'a resumable transport continues a reply %s, also behind a proxy whose server is away',
    async (_, begin, patience) => {
      // The page began with a snapshot of that position.
      const headers = { [HEADERS.resumeFromSequence]: '9' };
      const { transport, changes, positions } = openPatient(
        { ...patience, headers },
        begin(),
        // As Vite and Next answer.
        new Response('Internal Server Error', { status: 500 }),
        new Response(
          'id: 2\ndata: {"type":"text-delta","id":"t","delta":"b"}\n\ndata: {"type":"finish"}\n\n',
        ),
      );
      const parts = ['start', 'text-start', 'text-delta', 'text-delta', 'finish'];
      expect(await readReply(transport)).toEqual(parts);
      expect(changes).toEqual([false, true]);
      expect(positions.at(-1)).toEqual(['1', null]);
    },
  );
});
