import fc from 'fast-check';
import { CHUNK_TYPES, StreamChunkSchema, StreamMessageSchema } from '../../protocol/chunk.js';
import { anyChunk, CHUNK_TYPE_NAMES, sampleOf } from './any-chunk.js';

const isValid = (chunk: unknown): boolean => StreamChunkSchema.safeParse(chunk).success;
const base = { agentId: 's1', agentType: 'lab', timestamp: 1, step: 1 };
const text = { type: 'text_delta', ...base, delta: 'a' };

describe('StreamChunkSchema', () => {
  it('StreamChunkSchema knows exactly the types of the protocol', () => {
    expect([...CHUNK_TYPES].sort()).toEqual([...CHUNK_TYPE_NAMES].sort());
  });

  it('StreamChunkSchema accepts every valid chunk, also after JSON', () => {
    fc.assert(
      fc.property(anyChunk, (chunk) => {
        expect(isValid(chunk)).toBe(true);
        expect(isValid(JSON.parse(JSON.stringify(chunk)))).toBe(true);
        expect(StreamMessageSchema.safeParse(chunk).success).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(CHUNK_TYPE_NAMES)(
    'StreamChunkSchema refuses a %s without any of its required fields',
    (type) => {
      const chunk: Record<string, unknown> = sampleOf(type);
      for (const key of Object.keys(chunk)) {
        const rest = Object.fromEntries(Object.entries(chunk).filter(([name]) => name !== key));
        expect({ key, valid: isValid(rest) }).toEqual({ key, valid: false });
      }
    },
  );

  it.each<[string, object]>([
    ['an empty agentId', { agentId: '' }],
    ['an agentId that is too long', { agentId: 'x'.repeat(257) }],
    ['an empty agentType', { agentType: '' }],
    ['an agentType that is too long', { agentType: 'x'.repeat(257) }],
    ['a timestamp that is no number', { timestamp: '1' }],
    ['an infinite timestamp', { timestamp: Infinity }],
    ['a timestamp NaN', { timestamp: NaN }],
    ['a negative step', { step: -1 }],
    ['a broken step', { step: 1.5 }],
    ['an unknown type', { type: 'invented_later' }],
    ['no text', { delta: 1 }],
  ])('StreamChunkSchema refuses %s', (_what, fields) => {
    expect(isValid({ ...text, ...fields })).toBe(false);
  });

  it('StreamChunkSchema accepts ids of 256 characters and unknown fields', () => {
    expect(isValid({ ...text, agentId: 'x'.repeat(256), later: true })).toBe(true);
  });

  it.each(['', 'x'.repeat(257)])(
    'StreamChunkSchema refuses a custom event named "%s"',
    (eventName) => {
      expect(isValid({ type: 'custom', ...base, eventName, data: 1 })).toBe(false);
    },
  );

  it('StreamChunkSchema refuses required values that JSON leaves out', () => {
    const custom = { type: 'custom', ...base, eventName: 'e' };
    for (const data of [undefined, () => 1, Symbol('s')]) {
      expect(isValid({ ...custom, data })).toBe(false);
    }
    expect(isValid({ ...custom, data: null })).toBe(true);
  });

  it.each<[boolean, object]>([
    [true, { op: 'add', path: '', value: null }],
    [true, { op: 'add', path: '/a~0b/~1/-', value: 1 }],
    [true, { op: 'remove', path: '/a' }],
    [true, { op: 'move', path: '/a', from: '/b' }],
    [false, { op: 'add', path: '/a' }],
    [false, { op: 'replace', path: '/a' }],
    [false, { op: 'test', path: '/a' }],
    [false, { op: 'move', path: '/a' }],
    [false, { op: 'copy', path: '/a', value: 1 }],
    [false, { op: 'copy', path: '/a', from: 'b' }],
    [false, { op: 'remove', path: 'a' }],
    [false, { op: 'remove', path: '/a~2' }],
    [false, { op: 'remove', path: '/a~' }],
    [false, { op: 'remove' }],
    [false, { op: 'delete', path: '/a' }],
  ])('%s for the patch %j', (valid, patch) => {
    expect(isValid({ type: 'state_patch', ...base, patches: [patch] })).toBe(valid);
  });

  it.each<[boolean, string, object]>([
    [true, 'suspended_client_tool', { toolCallIds: ['c1'] }],
    [true, 'suspended_step_partial', { toolCallIds: ['c1'], stepId: 's1' }],
    [
      true,
      'suspended_awaiting_children',
      { children: [{ subSessionId: 's1.1-n', subAgentType: 'child', callId: 'c1' }] },
    ],
    [false, 'suspended_client_tool', {}],
    [false, 'suspended_step_partial', { toolCallIds: ['c1'] }],
    [false, 'suspended_awaiting_children', { toolCallIds: ['c1'] }],
    [false, 'suspended_for_fun', { toolCallIds: ['c1'] }],
  ])('%s for a marker %s with %j', (valid, kind, payload) => {
    expect(isValid({ type: 'suspension_marker', ...base, kind, payload })).toBe(valid);
  });

  it.each(['stepCount', 'messageCount', 'fromSequence'])(
    'StreamChunkSchema requires %s to be a count',
    (field) => {
      const resync = sampleOf('stream_resync');
      for (const value of [-1, 0.5, NaN, '1'])
        expect(isValid({ ...resync, [field]: value })).toBe(false);
    },
  );
});

it('StreamMessageSchema accepts control messages beside chunks, and nothing else', () => {
  const about = { streamId: 's1', timestamp: 1 };
  const accepts = (value: unknown): boolean => StreamMessageSchema.safeParse(value).success;
  expect(accepts({ type: 'stream_end', ...about })).toBe(true);
  expect(accepts({ type: 'stream_end', ...about, status: 'completed', finalOutput: 1 })).toBe(true);
  expect(accepts({ type: 'stream_status', ...about, status: 'paused' })).toBe(true);
  expect(accepts({ type: 'stream_status', ...about, status: 'ended' })).toBe(false);
  expect(accepts({ type: 'stream_end', timestamp: 1 })).toBe(false);
  expect(accepts({ type: 'invented_later', ...about })).toBe(false);
});
