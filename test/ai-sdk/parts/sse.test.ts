import { jsonSchema, parseJsonEventStream } from 'ai';
import { buildFramesResponse } from '../../../ai-sdk/parts/sse.js';
import {
  AI_SDK_UI_HEADER,
  AI_SDK_UI_HEADER_VALUE,
  buildSSEResponse,
  createSSEHeaders,
  createSSEStream,
  extractResumePosition,
  type SSEEvent,
  type UIStreamPart,
} from '../../../ai-sdk/index.js';

const delta = (text: string): UIStreamPart => ({ type: 'text-delta', id: 't', delta: text });

async function* source(...events: SSEEvent[]): AsyncGenerator<SSEEvent> {
  for (const event of events) yield await Promise.resolve(event);
}

describe('an SSE body of events', () => {
  it('an SSE body has the ids of events with a sequence, and ends with [DONE]', async () => {
    const response = buildSSEResponse(
      source(
        { event: delta('Hello'), sequence: 1 },
        { event: delta(' world'), sequence: 2 },
        { type: 'finish', finishReason: 'stop' },
      ),
      { headers: { 'x-custom': 'value' }, status: 201 },
    );
    expect(response.status).toBe(201);
    expect(response.headers.get('x-custom')).toBe('value');
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(response.headers.get(AI_SDK_UI_HEADER)).toBe(AI_SDK_UI_HEADER_VALUE);
    expect(await response.text()).toBe(
      'id: 1\ndata: {"type":"text-delta","id":"t","delta":"Hello"}\n\n' +
        'id: 2\ndata: {"type":"text-delta","id":"t","delta":" world"}\n\n' +
        'data: {"type":"finish","finishReason":"stop"}\n\n' +
        'data: [DONE]\n\n',
    );
  });

  it.each([
    ['{"a":[{"__proto__":{"x":1},"b":2}]}', { a: [{ b: 2 }] }],
    ['{"constructor":{"prototype":{"x":1}},"b":2}', { b: 2 }],
    [
      '{"constructor":{"x":1},"toString":"__proto__"}',
      { constructor: { x: 1 }, toString: '__proto__' },
    ],
  ])('an SSE body with %s is taken by the parser of clients', async (json, expected) => {
    const output: unknown = JSON.parse(json);
    const response = buildSSEResponse(
      source({ type: 'tool-output-available', toolCallId: 'c1', output }),
    );
    const stream = response.body ?? new ReadableStream();
    const parsed = parseJsonEventStream({ stream, schema: jsonSchema({}) });
    const { value: read } = await parsed.getReader().read();
    expect(read).toMatchObject({ success: true, value: { output: expected } });
  });

  it('an SSE body creates an event when it is read', async () => {
    let made = 0;
    async function* endless(): AsyncGenerator<SSEEvent> {
      for (;;) {
        made += 1;
        yield await Promise.resolve(delta('x'));
      }
    }
    const left = jest.fn();
    const reader = createSSEStream(endless(), { onCancel: left }).getReader();
    await reader.read();
    expect(made).toBeLessThan(4);
    await reader.cancel();
    expect(left).toHaveBeenCalledTimes(1);
  });

  it('an SSE body breaks off where its source does, and does not look complete', async () => {
    async function* broken(): AsyncGenerator<SSEEvent> {
      yield await Promise.resolve(delta('half'));
      throw new Error('lost');
    }
    await expect(new Response(createSSEStream(broken())).text()).rejects.toThrow('lost');
  });

  it('an SSE body keeps a silent connection open with comments', async () => {
    jest.useFakeTimers();
    let speak: () => void = () => undefined;
    const silence = new Promise<void>((resolve) => {
      speak = resolve;
    });
    async function* silent(): AsyncGenerator<SSEEvent> {
      await silence;
      yield delta('at last');
    }
    const reader = createSSEStream(silent(), { keepAliveMs: 1_000 }).getReader();
    const first = reader.read();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(new TextDecoder().decode((await first).value)).toMatch(/^: .*\n\n$/);
    speak();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('at last');
    while (!(await reader.read()).done);
    // A comment that a timer still wrote would throw here.
    await jest.advanceTimersByTimeAsync(2_000);
  });

  it('an SSE body leaves no timer behind when its reader leaves a silent source', async () => {
    jest.useFakeTimers();
    async function* mute(): AsyncGenerator<SSEEvent> {
      await new Promise(() => undefined);
      yield delta('never');
    }
    const reader = createSSEStream(mute(), { keepAliveMs: 1_000 }).getReader();
    const first = reader.read();
    await jest.advanceTimersByTimeAsync(1_000);
    expect((await first).done).toBe(false);
    void reader.read();
    void reader.cancel();
    // A comment that a timer still wrote would throw here.
    await jest.advanceTimersByTimeAsync(2_000);
  });
});

it.each(['before', 'after'])('frames learn that their reader left %s they began', (when) => {
  const reader = new AbortController();
  if (when === 'before') reader.abort();
  let given: AbortSignal | undefined;
  async function* none(): AsyncGenerator<string> {
    yield* await Promise.resolve([]);
  }
  const frames = (signal: AbortSignal): AsyncGenerator<string> => {
    given = signal;
    return none();
  };
  buildFramesResponse(frames, { signal: reader.signal });
  if (when === 'after') reader.abort();
  expect(given?.aborted).toBe(true);
});

it('createSSEHeaders lets the caller override every header', () => {
  const headers = createSSEHeaders({ 'cache-control': 'no-store' });
  expect(headers['cache-control']).toBe('no-store');
  expect(headers['x-accel-buffering']).toBe('no');
});

it.each([
  ['5', 5],
  ['0', 0],
  [' 7 ', 7],
  [null, undefined],
  [undefined, undefined],
  ['', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['1e3', undefined],
  ['abc', undefined],
  ['99999999999999999999', undefined],
  [{ 'X-Resume-From-Sequence': '3', 'last-event-id': '9' }, 3],
  [{ 'last-event-id': '9', 'x-resume-at': '2' }, 9],
  [{ 'x-resume-at': ['2', '4'] }, 2],
  [new Headers({ 'x-resume-from-sequence': 'junk', 'last-event-id': '9' }), 9],
  [{}, undefined],
])('extractResumePosition %j → %j', (given, expected) => {
  expect(extractResumePosition(given)).toBe(expected);
});
