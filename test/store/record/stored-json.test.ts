import fc from 'fast-check';
import { LIMITS } from '../../../protocol/limits.js';
import type { StreamMessage } from '../../../protocol/chunk.js';
import type { Row } from '../../../protocol/rows.js';
import { toCheckedJson, toStoredJson, toStoredRow } from '../../../store/record/stored-json.js';
import { headOf } from '../../../session/messages.js';

const nested = (depth: number): unknown =>
  JSON.parse('{"a":'.repeat(depth) + '1' + '}'.repeat(depth));
const circle: unknown[] = [];
circle.push(circle);

const base = { agentId: 's', agentType: 'a', step: 1, timestamp: 1 };
const call = { toolCallId: 'c', toolName: 't' };

describe('a value that is to be stored', () => {
  it.each([
    ['nothing', undefined],
    ['a function', () => 1],
    ['a BigInt', { n: 1n }],
    ['a cycle', circle],
    ['one level too many', nested(LIMITS.jsonDepth + 1)],
    ['a million levels', JSON.parse('['.repeat(1e6) + ']'.repeat(1e6))],
    [
      'one that throws',
      {
        toJSON: () => {
          throw new TypeError('no');
        },
      },
    ],
  ])('a value is refused with a code if it is %s', (_what, value) => {
    expect(() => toStoredJson(value)).toThrow(
      expect.objectContaining({ code: 'validation_error' }),
    );
  });

  it('a value may be as deep as the limit, wherever it is', () => {
    const deep = nested(LIMITS.jsonDepth) as Record<string, unknown>;
    const deeper = nested(LIMITS.jsonDepth + 1) as Record<string, unknown>;
    const at = { approved: true, at: 1 };
    const assistant = { role: 'assistant', messageId: 'm', runId: 'r', step: 1 } as const;
    const rows: ((value: Record<string, unknown>) => Row)[] = [
      (metadata) => ({ role: 'user', id: 'u', parts: [], metadata }),
      (output) => ({ role: 'tool', ...call, output }),
      (input) => ({ role: 'tool', ...call, denied: true, decision: { ...at, input } }),
      (data) => ({
        role: 'tool',
        ...call,
        events: [{ sequence: 1, chunk: { eventName: 'e', data } }],
      }),
      (input) => ({ ...assistant, parts: [{ type: 'tool-call', ...call, input, kind: 'server' }] }),
      (p) => ({ ...assistant, parts: [{ type: 'text', text: '', providerMetadata: p as never }] }),
    ];
    for (const toRow of rows) {
      expect(JSON.parse(toStoredRow(toRow(deep)))).toMatchObject({ role: toRow(deep).role });
      expect(() => toStoredRow(toRow(deeper))).toThrow(
        expect.objectContaining({ code: 'validation_error' }),
      );
    }
    const chunks: ((value: Record<string, unknown>) => StreamMessage)[] = [
      (data) => ({ type: 'custom', ...base, eventName: 'e', data }),
      (result) => ({ type: 'tool_end', ...base, ...call, result }),
      (value) => ({ type: 'state_patch', ...base, patches: [{ op: 'add', path: '/a', value }] }),
      (value) => ({
        type: 'state_patch',
        ...base,
        patches: [],
        undo: JSON.stringify([{ op: 'add', path: '/a', value }]),
      }),
    ];
    for (const toChunk of chunks) {
      expect(toCheckedJson([toChunk(deep)])).toHaveLength(1);
      expect(() => toCheckedJson([toChunk(deeper)])).toThrow(
        expect.objectContaining({ code: 'invalid_chunk' }),
      );
    }
  });

  it('a stored value has whole characters only, and is otherwise unchanged', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('\ud83d', '\ude42', '\\', 'u', 'd', '"') }),
        (text) => {
          const json = toStoredJson({ [text]: text });
          const whole = text.toWellFormed();
          expect(JSON.parse(json)).toEqual({ [whole]: whole });
          expect(JSON.parse(json)).toEqual({ [whole]: whole });
        },
      ),
    );
  });

  it('a patch whose undo cannot be sent is refused', () => {
    const undo = (text: string): StreamMessage => ({
      type: 'state_patch',
      ...base,
      patches: [],
      undo: text,
    });
    for (const text of ['', '}', '{}', '[{"op":"add"}]', '[] x', '[{"op":"add","path":"/a"}]']) {
      expect(() => toCheckedJson([undo(text)])).toThrow(
        expect.objectContaining({ code: 'invalid_chunk' }),
      );
    }
    const half = JSON.stringify([{ op: 'add', path: '/a', value: '\ud83d' }]);
    const [json = ''] = toCheckedJson([undo(half)]);
    expect(JSON.parse((JSON.parse(json) as { undo: string }).undo)).toEqual([
      { op: 'add', path: '/a', value: '\ufffd' },
    ]);
  });
});

it('the head of a stored row is found whatever the names and order of its fields', () => {
  const names = ['parts', 'output', 'error', 'outputRef', 'denied', 'decision', 'events'];
  const inner = {
    x: 1,
    ...Object.fromEntries(names.map((name) => [name, [{ y: 1, [name]: 1 }]])),
  };
  const at = { approved: true, at: 1, input: inner };
  const events = [{ sequence: 1, chunk: { eventName: 'e', data: inner } }];
  const rows: [Row, object][] = [
    [{ metadata: inner, parts: [], id: 'u', role: 'user' }, { id: 'u' }],
    [{ events, decision: at, output: inner, role: 'tool', ...call }, { toolCallId: 'c' }],
    [{ events, ...call, role: 'tool' }, { toolCallId: 'c' }],
    [
      { output: inner, parts: [], step: 1, role: 'assistant', runId: 'r', messageId: 'm' },
      { messageId: 'm', step: 1 },
    ],
  ];
  for (const [row, head] of rows) {
    expect(headOf(toStoredRow(row))).toMatchObject(head);
  }
});
