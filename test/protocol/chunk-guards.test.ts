import * as guards from '../../protocol/chunk-guards.js';
import { isStreamEnd } from '../../protocol/chunk.js';
import { CHUNK_TYPE_NAMES, sampleOf } from './any-chunk.js';

const all = Object.entries(guards);
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
