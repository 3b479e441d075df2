import type { Bench, Measurement } from '../bench.js';
import { newSessionId, toLabText, type OnEvent } from '../client/chat-client.js';
import { sayRaw } from '../client/raw-stream.js';
import { StreamTally, toLossRow } from '../client/stamped-streams.js';
import { wallClock } from '../clock.js';
import { summarize, type Row } from '../report.js';

/** Steps of each run; each calls a tool, except the last. */
const STEPS = 4;
/** Tokens of each step. */
const TOKENS = 25;
const EVERY_MS = 20;

const TEXT = toLabText(
  ...Array.from({ length: STEPS }, (_, at) => ({
    stamp: true,
    deltas: TOKENS,
    everyMs: EVERY_MS,
    calls: [{ tool: 'echo', id: `c${String(at + 1)}`, args: { value: at } }],
  })),
  { say: 'done' },
);

/**
 * A hundred concurrent runs on one worker, all streaming and calling tools, against a hundred bare workflows
 * with as many activities of the same duration. A refused message fails the measurement.
 */
export const concurrentRuns: Measurement = {
  name: 'concurrent-runs',
  take: async (bench) => {
    const runs = bench.isQuick ? 20 : 100;
    const all = `${String(runs)} runs at once`;
    bench.say(`concurrent-runs: ${all}`);
    const tallies = Array.from({ length: runs }, () => new StreamTally(newSessionId()));
    const product = await timeAll(tallies, (tally) => performRun(bench, tally, 'lab'));
    bench.say(`concurrent-runs: ${all}, in legs`);
    const legTallies = Array.from({ length: runs }, () => new StreamTally(newSessionId()));
    const legs = await timeAll(legTallies, (tally) => performRun(bench, tally, 'lab-leg'));
    const what = `${String(runs)} bare workflows`;
    bench.say(`concurrent-runs: ${what} at once`);
    const floor = await timeAll(tallies, () => bench.floor.runWork(STEPS, TOKENS * EVERY_MS));
    const toRows = (name: string, { firsts, ms }: Performed, ratioAtLeast: number): Row[] => [
      {
        what: `${name}: first token`,
        unit: 'ms',
        value: summarize(firsts),
        beside: { what: `${what}: first activity`, value: summarize(floor.firsts) },
        aim: { ratio: 1.3 },
      },
      {
        what: '  runs per second',
        unit: '1/s',
        value: { p50: (1000 * runs) / ms },
        beside: { what, value: { p50: (1000 * runs) / floor.ms } },
        aim: { ratioAtLeast },
      },
    ];
    const sent = STEPS * TOKENS;
    return [
      ...toRows(all, product, 0.8),
      ...toRows(`${all}, in legs`, legs, 2),
      toLossRow([...tallies, ...legTallies].map((tally) => ({ tally, sent }))),
    ];
  },
};

interface Performed {
  /** From the first run's start to the last one's end. */
  ms: number;
  firsts: number[];
}

/** Runs everything at once; `perform` resolves to the ms until its first sign of work. */
async function timeAll<T>(
  all: readonly T[],
  perform: (one: T) => Promise<number>,
): Promise<Performed> {
  const from = wallClock();
  const firsts = await Promise.all(all.map(perform));
  return { ms: wallClock() - from, firsts };
}

/** Performs a run; resolves to the ms until its first token. */
async function performRun({ product }: Bench, tally: StreamTally, agent: string): Promise<number> {
  const from = wallClock();
  let first = NaN;
  const onEvent: OnEvent = (json, at) => {
    // The last step's word carries no stamp.
    if (json.endsWith('"delta":"done"}')) return;
    tally.acceptEvent(json, at);
    if (Number.isNaN(first) && tally.received > 0) first = at - from;
  };
  await sayRaw(product.port, tally.sessionId, TEXT, onEvent, { agent });
  return first;
}
