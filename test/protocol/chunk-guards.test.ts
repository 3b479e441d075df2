import * as guards from '../../protocol/chunk-guards.js';
import { isStreamEnd } from '../../protocol/chunk.js';
import { CHUNK_TYPE_NAMES, sampleOf } from './any-chunk.js';

const { createStreamEndSentinel, isStreamEndSentinel, STREAM_END_SENTINEL } = guards;
const all = Object.entries(guards).flatMap(([name, accepts]) =>
  name.endsWith('Chunk') ? [[name, accepts as (message: object) => boolean] as const] : [],
);
const accepting = (message: { type: string }): string[] =>
  all.filter(([, accepts]) => accepts(message)).map(([name]) => name);

/** Guard names that do not follow from the type. */
const NAMES: Record<string, string> = { custom: 'isCustomEventChunk' };
const nameOf = (type: string): string =>
  NAMES[type] ??
  `is${type
    .replace('subagent', 'sub_agent')
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}Chunk`;

describe('chunk guards', () => {
  it.each(CHUNK_TYPE_NAMES)('%s has the one that is named after it', (type) => {
    expect(accepting(sampleOf(type))).toEqual([nameOf(type)]);
  });

  it('every type of chunk has a guard', () => {
    expect(all).toHaveLength(CHUNK_TYPE_NAMES.length);
  });

  it('none accepts control messages or types that are invented later', () => {
    const end = { type: 'stream_end', streamId: 's1', timestamp: 1 };
    expect(accepting(end)).toEqual([]);
    expect(isStreamEnd(end)).toBe(true);
    for (const type of ['invented_later', '', 'constructor', 'TEXT_DELTA']) {
      expect(accepting({ type })).toEqual([]);
      expect(isStreamEnd({ type })).toBe(false);
    }
  });
});

it('the sentinel is the same symbol in every copy of the package', () => {
  expect(STREAM_END_SENTINEL).toBe(Symbol.for('helix.stream.end'));
});

it('the sentinel is recognised by its properties', () => {
  expect(isStreamEndSentinel(createStreamEndSentinel('ended'))).toBe(true);
  expect(createStreamEndSentinel('failed', 'No.')).toEqual({
    __streamEnd: true,
    status: 'failed',
    error: 'No.',
  });
  expect(createStreamEndSentinel('ended')).not.toHaveProperty('error');
});

it.each([
  null,
  undefined,
  'end',
  {},
  { __streamEnd: true },
  { __streamEnd: 1, status: 'ended' },
  { __streamEnd: true, status: 'paused' },
  { type: 'stream_end', status: 'ended' },
])('the value %j is no sentinel', (value) => {
  expect(isStreamEndSentinel(value)).toBe(false);
});
