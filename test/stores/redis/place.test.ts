import { describe, expect, it } from '@jest/globals';
import type { LogEntry } from '../../../protocol/chunk.js';
import type { LogPage } from '../../../stores/redis/log-pages.js';
import { createPlace, type Place } from '../../../stores/redis/place.js';
import { textChunk } from '../../../stores/conformance/fixtures.js';

const entry = (sequence: number, text = 'x', writer = 'm1'): LogEntry => ({
  sequence,
  writer,
  message: { ...textChunk(text), timestamp: 1 },
});

const page = (entries: LogEntry[], sequence: number, server = 'one'): LogPage => ({
  ...{ entries, sequence, server },
  isFull: false,
});

/** At sequence 5 on server `one`. */
function placeAtFive(): Place {
  const place = createPlace(0);
  place.takePage(page([entry(4), entry(5)], 5));
  return place;
}

describe("a follower's place", () => {
  it('gives each entry once, from pages and batches', () => {
    const place = createPlace(3);
    expect(place.takePage(page([entry(3), entry(4), entry(5)], 4))).toEqual([entry(4), entry(5)]);
    expect(place.takeBatch([entry(5), entry(6)])).toEqual([entry(6)]);
    expect(place.anchor()).toBe(6);
    expect(place.takePage(page([entry(6)], 6))).toEqual([]);
  });

  it('sees a gap before a batch, and none where entries were withdrawn', () => {
    const place = placeAtFive();
    const batch = { previous: 7, entries: [entry(8)], size: 1 };
    expect(place.isGapBefore(batch)).toBe(true);
    // Six and seven were there and were withdrawn.
    place.takePage(page([entry(5)], 7));
    expect(place.isGapBefore(batch)).toBe(false);
    expect(place.anchor()).toBe(5);
  });

  it.each<[string, LogPage]>([
    ['is shorter', page([], 4)],
    ['has another text there', page([entry(5, 'other')], 9)],
    ['has another writer there', page([entry(5, 'x', 'm2')], 9)],
    ['continues behind a gap, on another server', page([entry(8)], 9, 'two')],
  ])('is rewound if the log %s', (_, read) => {
    expect(() => placeAtFive().takePage(read)).toThrow(
      expect.objectContaining({ code: 'rewound' }),
    );
  });

  it('is rewound also if the gap is noticed later', () => {
    const place = placeAtFive();
    expect(place.takePage(page([], 5, 'two'))).toEqual([]);
    expect(() => place.takePage(page([entry(8)], 8, 'two'))).toThrow(
      expect.objectContaining({ code: 'rewound' }),
    );
  });

  it('compares where it started, before anything new came', () => {
    const place = createPlace(5);
    place.takePage(page([entry(5)], 5));
    expect(() => place.takePage(page([entry(5, 'other')], 5, 'two'))).toThrow(
      expect.objectContaining({ code: 'rewound' }),
    );
  });

  it.each<[string, LogPage]>([
    ['another server with the same log', page([entry(5), entry(6)], 6, 'two')],
    ['an entry that was withdrawn on the same server', page([entry(6)], 6)],
  ])('continues after %s', (_, read) => {
    expect(placeAtFive().takePage(read)).toEqual([entry(6)]);
  });
});
