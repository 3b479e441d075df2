import fc from 'fast-check';
import type { LogEntry, StreamChunk } from '../../../protocol/chunk.js';
import { mergeDeltas } from '../../../protocol/merge-deltas.js';
import type { Commands } from '../../../stores/redis/commands.js';
import { createKeySpace } from '../../../stores/redis/keys.js';
import { toShortDelta } from '../../../stores/redis/short-deltas.js';
import { joinShortDeltas, type StreamEntry } from '../../../stores/redis/tail/joined-deltas.js';
import { createReadJoined, createReadLog } from '../../../stores/redis/tail/pages.js';

const TIME = 1_763_841_234_567;

/** Texts that look like the end of a text, like what follows it, or like the whole. */
const text = fc.oneof(
  fc.constantFrom('', 'word ', '"', '\\', '\\"', '",', '","a",1,', `","a",1,${String(TIME)}]`),
  fc.constantFrom('["', '["word ","a",1,', ']', '\n', '\u0000', '🙂', '\ud83d', '\ude42'),
  fc.string({ unit: 'binary', maxLength: 5 }),
);

/** Mostly of one block. */
const base = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constant({ agentId: 's1', agentType: 'a', step: 1, timestamp: TIME }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      agentId: fc.constantFrom('s1', 's1.1a', 'other'),
      agentType: fc.constantFrom('a', '","a', 'a",1'),
      step: fc.constantFrom(1, 2, 11),
      // Of another length as well: what cannot be joined as text is parsed.
      timestamp: fc.constantFrom(TIME, TIME + 1, TIME + 0.5, 1, 0.5),
    }),
  },
);

const chunk: fc.Arbitrary<StreamChunk> = fc
  .record({
    base,
    text,
    of: fc.constantFrom('text', 'text', 'thought', 'last thought', 'a', 'a', 'b', 'a","a'),
  })
  .map(({ of, text, base }) => {
    if (of === 'text') return { type: 'text_delta', ...base, delta: text };
    if (!of.endsWith('thought')) {
      return { type: 'tool_arg_stream_delta', ...base, toolCallId: of, delta: text };
    }
    return { type: 'thinking', ...base, content: text, isComplete: of !== 'thought' };
  });

const log = fc.array(
  fc.record({ chunk, writer: fc.constantFrom('m1', 'm1', 't:a'), gap: fc.nat(1) }),
  { maxLength: 12 },
);

function toPage(written: { chunk: StreamChunk; writer: string; gap: number }[]): StreamEntry[] {
  let sequence = 0;
  return written.map(({ chunk, writer, gap }) => {
    sequence += 1 + gap;
    const short = toShortDelta(chunk, 's1');
    const fields =
      short === undefined ? ['w', writer, 'c', JSON.stringify(chunk)] : [writer, short];
    return [`${String(sequence)}-0`, fields];
  });
}

/** The page, once as single entries and once as a replay reads it. */
async function readTwice(page: StreamEntry[]): Promise<[LogEntry[], LogEntry[]]> {
  const redis = {
    together: () => Promise.resolve([['0'], page, '']),
    xrange: () => Promise.resolve(page),
  } as unknown as Commands;
  const context = { redis, keys: createKeySpace() };
  const { entries } = await createReadLog(context)('s1', 0, 100);
  return [entries, await createReadJoined(context)('s1', 0, 100, 100)];
}

const delta = (sequence: number, json: string, writer = 'm1'): StreamEntry => [
  `${String(sequence)}-0`,
  [writer, json],
];

describe('joined deltas', () => {
  it('are what the single ones say, joined by the rule of replays', async () => {
    await fc.assert(
      fc.asyncProperty(log, async (written) => {
        const [single, joined] = await readTwice(toPage(written));
        expect(joined).toEqual(mergeDeltas(single));
      }),
      { numRuns: 500 },
    );
  });

  it('of one block are one entry before anything is parsed', () => {
    const page = [
      delta(1, `["a \\"","lab",1,${String(TIME)}]`),
      delta(2, `["","lab",1,${String(TIME + 1)}]`),
      delta(5, `["\\\\","lab",1,${String(TIME + 2)}]`),
    ];
    expect(joinShortDeltas(page)).toEqual([delta(5, `["a \\"\\\\","lab",1,${String(TIME)}]`)]);
  });

  it('whose times are no whole milliseconds are parsed one by one', async () => {
    const thought = `"lab",1,${String(TIME)}.5,true]`;
    const page = [delta(1, `["one",${thought}`), delta(2, `["two",${thought}`)];
    expect(joinShortDeltas(page)).toEqual(page);
    const [single, joined] = await readTwice(page);
    expect(joined).toEqual(mergeDeltas(single));
  });
});
