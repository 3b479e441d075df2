import type { LogEntry } from '../../protocol/chunk.js';
import { mergeDeltas } from '../../protocol/combine-streams.js';
import type { Bare } from '../support/fake-call.js';

function entry(sequence: number, chunk: Bare, writer = 'm1', step = 1): LogEntry {
  const base = { agentId: 's1', agentType: 'lab', timestamp: 1, step };
  return { sequence, writer, message: { ...base, ...chunk } };
}

const text = (delta: string): Bare => ({ type: 'text_delta', delta });

it('mergeDeltas joins deltas of one block under the last sequence', () => {
  const call = { type: 'tool_arg_stream_delta', toolCallId: 'c1' } as const;
  const entries = [
    entry(1, { type: 'thinking', content: 'a', isComplete: false }),
    entry(2, { type: 'thinking', content: 'b', isComplete: true }),
    entry(3, { type: 'thinking', content: 'c', isComplete: true }),
    entry(4, text('d')),
    entry(6, text('e')),
    entry(7, { ...call, delta: '{' }),
    entry(8, { ...call, delta: '}' }),
  ];
  expect(mergeDeltas(entries)).toEqual([
    entry(2, { type: 'thinking', content: 'ab', isComplete: true }),
    entry(3, { type: 'thinking', content: 'c', isComplete: true }),
    entry(6, text('de')),
    entry(8, { ...call, delta: '{}' }),
  ]);
});

it('mergeDeltas keeps deltas of different writers, steps or calls apart, and those with an entry between', () => {
  const entries = [
    entry(1, text('a')),
    entry(2, text('b'), 't:c1'),
    entry(3, text('c'), 't:c1', 2),
    entry(4, { type: 'step_start' }),
    entry(5, text('d')),
    entry(6, { type: 'tool_arg_stream_delta', toolCallId: 'c1', delta: '1' }),
    entry(7, { type: 'tool_arg_stream_delta', toolCallId: 'c2', delta: '2' }),
  ];
  expect(mergeDeltas(entries)).toEqual(entries);
});

it('mergeDeltas leaves its input unchanged, since other readers share it', () => {
  const entries = [entry(1, text('a')), entry(2, text('b')), entry(3, text('c'))];
  const copy = structuredClone(entries);
  mergeDeltas(entries);
  expect(entries).toEqual(copy);
});
