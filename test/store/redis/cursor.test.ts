import type { LogEntry } from '../../../protocol/chunk.js';
import type { LogPage } from '../../../store/redis/tail/pages.js';
import { createCursor } from '../../../store/redis/tail/cursor.js';
import { textChunk } from '../../../store/conformance/fixtures.js';

const entry = (sequence: number, text = 'x', writer = 'm1'): LogEntry => ({
  sequence,
  writer,
  message: { ...textChunk(text), timestamp: 1 },
});

const page = (entries: LogEntry[], sequence: number, server = 'one'): LogPage => ({
  entries,
  sequence,
  server,
  isFull: false,
});

/** Returns a cursor at sequence 5 on server `one`. */
function cursorAtFive(): ReturnType<typeof createCursor> {
  const cursor = createCursor(0);
  cursor.takePage(page([entry(4), entry(5)], 5));
  return cursor;
}

describe("a follower's cursor", () => {
  it('a cursor yields each entry once, from pages and batches', () => {
    const cursor = createCursor(3);
    expect(cursor.takePage(page([entry(3), entry(4), entry(5)], 4))).toEqual([entry(4), entry(5)]);
    expect(cursor.takeBatch([entry(5), entry(6)])).toEqual([entry(6)]);
    expect(cursor.anchor()).toBe(6);
    expect(cursor.takePage(page([entry(6)], 6))).toEqual([]);
  });

  it('a cursor sees a gap before a batch, and none where entries were withdrawn', () => {
    const cursor = cursorAtFive();
    const batch = { previous: 7, entries: [entry(8)], size: 1 };
    expect(cursor.isGapBefore(batch)).toBe(true);
    // Entries six and seven existed and were withdrawn.
    cursor.takePage(page([entry(5)], 7));
    expect(cursor.isGapBefore(batch)).toBe(false);
    expect(cursor.anchor()).toBe(5);
  });

  it('a cursor sees a gap of one entry', () => {
    const after = (previous: number) => ({ previous, entries: [entry(previous + 1)], size: 1 });
    expect([5, 6].map((previous) => cursorAtFive().isGapBefore(after(previous)))).toEqual([
      false,
      true,
    ]);
  });

  it.each<[string, LogPage]>([
    ['is shorter', page([], 4)],
    ['has another text there', page([entry(5, 'other')], 9)],
    ['has another writer there', page([entry(5, 'x', 'm2')], 9)],
    ['continues behind a gap, on another server', page([entry(8)], 9, 'two')],
  ])('a cursor is rewound if the log %s', (_, read) => {
    expect(() => cursorAtFive().takePage(read)).toThrow(
      expect.objectContaining({ code: 'rewound' }),
    );
  });

  it('a cursor is also rewound if the gap is noticed later', () => {
    const cursor = cursorAtFive();
    expect(cursor.takePage(page([], 5, 'two'))).toEqual([]);
    expect(() => cursor.takePage(page([entry(8)], 8, 'two'))).toThrow(
      expect.objectContaining({ code: 'rewound' }),
    );
  });

  it('a cursor compares where it started, before anything new came', () => {
    const cursor = createCursor(5);
    cursor.takePage(page([entry(5)], 5));
    expect(() => cursor.takePage(page([entry(5, 'other')], 5, 'two'))).toThrow(
      expect.objectContaining({ code: 'rewound' }),
    );
  });

  it.each<[string, LogPage]>([
    ['another server with the same log', page([entry(5), entry(6)], 6, 'two')],
    ['an entry that was withdrawn on the same server', page([entry(6)], 6)],
  ])('a cursor continues after %s', (_, read) => {
    expect(cursorAtFive().takePage(read)).toEqual([entry(6)]);
  });
});
