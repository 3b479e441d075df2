import { createParser, type EventSourceMessage } from 'eventsource-parser';
import fc from 'fast-check';
import { anyCharacter } from '../support/any-character.js';
import type { StreamMessage } from '../../protocol/chunk.js';
import { HelixError } from '../../protocol/errors.js';
import {
  formatWireEvent,
  parseStreamEvent,
  toWireEvents,
  type StreamEvent,
  type WireEvent,
} from '../../protocol/agent-server.js';
import { anyChunk, anyText, sampleOf } from './any-chunk.js';

const count = fc.nat();
const anyEvent: fc.Arbitrary<StreamEvent> = fc.oneof(
  fc.record(
    { type: fc.constant('chunk' as const), chunk: anyChunk, sequence: fc.nat().map((n) => n + 1) },
    { requiredKeys: ['type', 'chunk'] },
  ),
  fc.record(
    { type: fc.constant('end' as const), finalOutput: fc.jsonValue({ stringUnit: anyCharacter }) },
    { requiredKeys: ['type'] },
  ),
  fc.record({ type: fc.constant('fail' as const), error: anyText }),
  fc.record({
    type: fc.constant('status' as const),
    status: fc.constantFrom('paused' as const, 'active' as const),
  }),
  fc.record(
    { type: fc.constant('truncated' as const), truncatedAtStep: count, atSequence: count },
    { requiredKeys: ['type', 'truncatedAtStep'] },
  ),
);

function parseSse(text: string, cutAt: number): EventSourceMessage[] {
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  parser.feed(text.slice(0, cutAt));
  parser.feed(text.slice(cutAt));
  return events;
}

/** Returns the value after JSON, which has no other form for -0 and lone surrogates. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

it('wire text passes a stock SSE parser unchanged, wherever it is cut', () => {
  const wire = fc.record({ id: count, event: anyEvent }, { requiredKeys: ['event'] });
  fc.assert(
    fc.property(fc.array(wire, { maxLength: 4 }), count, (sent: WireEvent[], cutAt) => {
      const text = sent.map(formatWireEvent).join('');
      const received = parseSse(text, cutAt % (text.length + 1));
      expect(received.map(({ data }) => parseStreamEvent(data))).toEqual(
        sent.map(({ event }) => asJson(event)),
      );
      expect(received.map(({ id }) => id)).toEqual(
        sent.map(({ id }) => (id === undefined ? undefined : String(id))),
      );
    }),
    { numRuns: 300 },
  );
});

it('wire text is one line of data for any reader that splits text into lines', () => {
  const event: StreamEvent = { type: 'fail', error: 'a\nb\rc\r\nd\u2028e\u2029f\u0085g\u000bh' };
  const text = formatWireEvent({ id: 7, event });
  expect(text.split(/[\n\r\u2028\u2029\u0085]/)).toEqual([
    'id: 7',
    expect.stringMatching(/^data: /),
    '',
    '',
  ]);
  expect(parseStreamEvent(text.slice('id: 7\ndata: '.length))).toEqual(event);
});

it.each([
  '{"type":"invented_later","x":1}',
  '{"type":"chunk","chunk":{"type":"invented_later"},"sequence":4}',
])('parseStreamEvent skips %s', (data) => {
  expect(parseStreamEvent(data)).toBeUndefined();
});

it('parseStreamEvent accepts unknown fields', () => {
  expect(parseStreamEvent('{"type":"status","status":"paused","later":1}')).toEqual({
    type: 'status',
    status: 'paused',
  });
});

it.each([
  '',
  '{',
  '[DONE]',
  'null',
  '1',
  '[]',
  '{}',
  '{"type":1}',
  '{"type":"chunk"}',
  '{"type":"chunk","chunk":null}',
  '{"type":"chunk","chunk":{"type":"text_delta"}}',
  '{"type":"fail"}',
  '{"type":"status","status":"ended"}',
  '{"type":"truncated","truncatedAtStep":-1}',
])('parseStreamEvent refuses %j', (data) => {
  const parse = (): unknown => parseStreamEvent(data);
  expect(parse).toThrow(HelixError);
  expect(parse).toThrow(expect.objectContaining({ code: 'validation_error' }));
});

const eventsOf = (message: StreamMessage, writer = ''): WireEvent[] =>
  toWireEvents({ sequence: 9, writer, message });
const about = { streamId: 's1', timestamp: 1 };

it('toWireEvents returns chunks with their sequence', () => {
  fc.assert(
    fc.property(anyChunk, (chunk) => {
      fc.pre(chunk.type !== 'suspension_marker');
      expect(eventsOf(chunk, 'm1')).toEqual([
        { id: 9, event: { type: 'chunk', chunk, sequence: 9 } },
      ]);
    }),
  );
});

it('toWireEvents does not send the suspension marker', () => {
  expect(eventsOf(sampleOf('suspension_marker'))).toEqual([]);
});

it.each([
  ['run_paused', 'paused'],
  ['run_resumed', 'active'],
] as const)(
  'toWireEvents sends %s as a chunk and as a status, with the id on the last event',
  (type, status) => {
    const chunk = sampleOf(type);
    expect(eventsOf(chunk)).toEqual([
      { event: { type: 'chunk', chunk, sequence: 9 } },
      { id: 9, event: { type: 'status', status } },
    ]);
  },
);

it.each<[StreamMessage, StreamEvent]>([
  [{ type: 'stream_end', ...about }, { type: 'end' }],
  [{ type: 'stream_end', ...about, status: 'completed' }, { type: 'end' }],
  [{ type: 'stream_end', ...about, status: 'interrupted' }, { type: 'end' }],
  [
    { type: 'stream_end', ...about, status: 'completed', finalOutput: null },
    { type: 'end', finalOutput: null },
  ],
  [
    { type: 'stream_end', ...about, status: 'failed', error: 'No.' },
    { type: 'fail', error: 'No.' },
  ],
  [
    { type: 'stream_end', ...about, status: 'failed' },
    { type: 'fail', error: 'The run failed.' },
  ],
  [
    { type: 'stream_end', ...about, status: 'aborted' },
    { type: 'fail', error: 'The run was aborted.' },
  ],
  [
    { type: 'stream_status', ...about, status: 'paused' },
    { type: 'status', status: 'paused' },
  ],
  [
    { type: 'stream_truncated', ...about, truncatedAtStep: 2, atSequence: 8, lastRemoved: 5 },
    { type: 'truncated', truncatedAtStep: 2, atSequence: 8 },
  ],
])('toWireEvents turns %j into %j', (message, event) => {
  expect(eventsOf(message)).toEqual([{ id: 9, event }]);
});
