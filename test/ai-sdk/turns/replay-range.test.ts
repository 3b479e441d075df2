import fc from 'fast-check';
import { replayRange } from '../../../ai-sdk/turns/replay-range.js';
import type { LogEntry } from '../../../protocol/chunk.js';
import type { KeptPage } from '../../../store/contract/log.js';
import type { Bare } from '../../support/fake-call.js';

function entry(sequence: number, chunk: Bare, writer = 'm1', step = 1): LogEntry {
  const base = { agentId: 's1', agentType: 'lab', timestamp: 1, step };
  return { sequence, writer, message: { ...base, ...chunk } };
}

const text = (delta: string): Bare => ({ type: 'text_delta', delta });

function says(entries: LogEntry[]): string {
  return entries
    .map(({ message }) => (message.type === 'text_delta' ? message.delta : ''))
    .join('');
}

/** A store of these entries that notes how many reads it has, and how many at once. */
function createReader(entries: LogEntry[]): {
  read: (sessionId: string, from: number, limit: number) => Promise<LogEntry[]>;
  counts: { reads: number; max: number };
} {
  const counts = { reads: 0, max: 0 };
  let open = 0;
  return {
    counts,
    read: async (_sessionId, from, limit) => {
      counts.reads += 1;
      counts.max = Math.max(counts.max, ++open);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return entries.filter(({ sequence }) => sequence > from).slice(0, limit);
    },
  };
}

async function collect(pages: AsyncIterable<LogEntry[]>): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  for await (const page of pages) entries.push(...page);
  return entries;
}

describe('replayRange', () => {
  it('replayRange lets others take their turn between two pages that came together', async () => {
    const entries = Array.from({ length: 2_500 }, (_, n) => entry(n + 1, text('a')));
    // All of it is there at once.
    const reader = {
      read: (_: string, from: number, limit: number) =>
        Promise.resolve(entries.slice(from, from + limit)),
    };
    const order: string[] = [];
    let isOver = false;
    const takeTurn = (): void => {
      order.push('other');
      if (!isOver) setImmediate(takeTurn);
    };
    setImmediate(takeTurn);
    for await (const page of replayRange(reader, 's1', 0, 2_500)) {
      order.push(`page to ${String(page.at(-1)?.sequence)}`);
    }
    isOver = true;
    expect(order.filter((each) => each !== 'other')).toHaveLength(5);
    expect(order.join()).not.toMatch(/page to \d+,page/);
  });

  it('replayRange yields the entries of the range, whatever gaps there are, and a few pages at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 1, max: 3_000 }), { maxLength: 1_000 }),
        fc.nat(3_000),
        fc.nat(3_000),
        async (sequences, from, upTo) => {
          const entries = sequences
            .sort((a, b) => a - b)
            .map((sequence) => entry(sequence, text(`${String(sequence)} `)));
          const reader = createReader(entries);
          const replayed = await collect(replayRange(reader, 's1', from, upTo));
          const inside = entries.filter(({ sequence }) => sequence > from && sequence <= upTo);
          expect(says(replayed)).toBe(says(inside));
          expect(replayed.at(-1)?.sequence).toBe(inside.at(-1)?.sequence);
          expect(reader.counts.max).toBeLessThanOrEqual(2);
        },
      ),
    );
  });

  it('replayRange yields the same with kept pages wherever they lie, and reads no entry of theirs', async () => {
    const all = Array.from({ length: 4_000 }, (_, n) => entry(n + 1, text(`${String(n + 1)} `)));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 900 }), fc.nat(400)), { maxLength: 12 }),
        fc.nat(4_000),
        fc.nat(4_000),
        async (sizes, from, upTo) => {
          const kept: KeptPage[] = [];
          let last = 0;
          for (const [size, gap] of sizes) {
            const [first, to] = [last + gap + 1, last + gap + size];
            if (to > all.length) break;
            const texts = says(all.slice(first - 1, to));
            kept.push({ from: first, to, entries: [entry(to, text(texts))] });
            last = to;
          }
          const reader = {
            ...createReader(all),
            // A few of them in each read.
            keptPages: (_: string, after: number) =>
              Promise.resolve(kept.filter((page) => page.from > after).slice(0, 3)),
          };
          const replayed = await collect(replayRange(reader, 's1', from, upTo));
          expect(says(replayed)).toBe(says(all.slice(from, Math.max(from, upTo))));
        },
      ),
    );
  });

  it('replayRange reads what kept pages do not have, and nothing else', async () => {
    const entries = Array.from({ length: 2_100 }, (_, n) => entry(n + 1, text('x')));
    const page = (from: number, to: number): KeptPage => ({
      from,
      to,
      entries: [entry(to, text('x'.repeat(to - from + 1)))],
    });
    const reader = {
      ...createReader(entries),
      keptPages: (_: string, after: number) =>
        Promise.resolve([page(101, 1_000), page(1_001, 2_000)].filter(({ from }) => from > after)),
    };
    expect(says(await collect(replayRange(reader, 's1', 0, 2_100)))).toHaveLength(2_100);
    expect(reader.counts.reads).toBe(2);
  });

  it('replayRange reads each page once for viewers that arrive together', async () => {
    const entries = Array.from({ length: 2_000 }, (_, index) => entry(index + 1, text('x')));
    const reader = createReader(entries);
    const viewers = Array.from({ length: 10 }, () => collect(replayRange(reader, 's1', 0, 2_000)));
    for (const replayed of await Promise.all(viewers)) expect(says(replayed)).toHaveLength(2_000);
    expect(reader.counts.reads).toBe(4);
  });

  it('replayRange reads a page again for a viewer whose range ends elsewhere', async () => {
    const entries = [entry(1, text('a'))];
    const reader = createReader(entries);
    expect(says(await collect(replayRange(reader, 's1', 0, 1)))).toBe('a');
    entries.push(entry(2, text('b')));
    expect(says(await collect(replayRange(reader, 's1', 0, 2)))).toBe('ab');
  });

  it('replayRange reports a failed read to every viewer, and retries for the next', async () => {
    let isAway = true;
    const reader = {
      read: (): Promise<LogEntry[]> =>
        isAway ? Promise.reject(new Error('away')) : Promise.resolve([entry(1, text('a'))]),
    };
    const viewers = [1, 2].map(() => collect(replayRange(reader, 's1', 0, 1)));
    const outcomes = await Promise.allSettled(viewers);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    isAway = false;
    expect(says(await collect(replayRange(reader, 's1', 0, 1)))).toBe('a');
  });
});
