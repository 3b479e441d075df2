import { randomUUID } from 'node:crypto';
import type { Bench, Measurement } from '../bench.js';
import { newSessionId, type OnEvent } from '../client/chat-client.js';
import { toLabText, type LabEntry } from '../client/lab-script.js';
import { sayRaw } from '../client/raw-stream.js';
import { StreamTally } from '../client/stamped-streams.js';
import { sleep, wallClock } from '../clock.js';
import { formatShares, residentMegabytes, startCpuMeter } from '../processes/usage.js';
import { summarize, type Report, type Row } from '../report.js';

/** Pause before a refused message is sent again. */
const AGAIN_MS = 250;

/**
 * Sends a message to a lab agent, and repeats it while no server answers, as people do. Resolves to the
 * number of refusals when the reply is complete.
 */
async function insist(
  port: number,
  sessionId: string,
  text: string,
  onEvent: OnEvent,
  agent = 'lab',
): Promise<number> {
  const id = randomUUID();
  for (let refused = 0; ; refused += 1) {
    try {
      await sayRaw(port, sessionId, text, onEvent, { id, agent });
      return refused;
    } catch (error) {
      if (!(error instanceof Error && error.message.includes(' 503 '))) throw error;
      await sleep(AGAIN_MS);
    }
  }
}

const RUNS = 100;
/** Steps of each run; each calls a tool, except the last. */
const STEPS = 4;
/** Tokens of each step. */
const TOKENS = 25;
const EVERY_MS = 20;
const MEMORY_EVERY_MS = 100;

const TEXT = toLabText(
  ...Array.from({ length: STEPS }, (_, at): LabEntry => {
    const call = { tool: 'echo', id: `c${String(at + 1)}`, args: { value: at } };
    return { stamp: true, deltas: TOKENS, everyMs: EVERY_MS, calls: [call] };
  }),
  { say: 'done' },
);

/**
 * A hundred concurrent runs on one worker, all streaming and calling tools, against a hundred bare workflows
 * with as many activities of the same duration.
 */
export const concurrentRuns: Measurement = {
  name: 'concurrent-runs',
  take: async (bench) => {
    const runs = bench.isQuick ? 20 : RUNS;
    const all = `${String(runs)} runs at once`;
    bench.say(`concurrent-runs: ${all}`);
    const readCpu = startCpuMeter(bench.pids);
    const product = await performRuns(bench, runs);
    const cpu = formatShares(readCpu());
    bench.say(`concurrent-runs: ${all}, in legs`);
    const legs = await performRuns(bench, runs, 'lab-leg');
    bench.say(`concurrent-runs: ${String(runs)} bare workflows at once`);
    const floor = await performBare(bench, runs);
    const what = `${String(runs)} bare workflows`;
    const toFirst = (name: string, { firsts }: Performed): Row => ({
      what: `${name}: first token`,
      unit: 'ms',
      value: summarize(firsts),
      beside: { what: `${what}: first activity`, value: summarize(floor.firsts) },
      aim: { ratio: 1.3 },
    });
    const toRate = (name: string, { ms }: Performed, ratioAtLeast: number): Row => ({
      what: name,
      unit: '1/s',
      value: { p50: (1000 * runs) / ms },
      beside: { what, value: { p50: (1000 * runs) / floor.ms } },
      aim: { ratioAtLeast },
    });
    const report: Report = {
      rows: [
        toFirst(all, product),
        {
          what: '  token of the model → its reader',
          unit: 'ms',
          value: summarize(product.latencies),
        },
        toRate('  runs per second', product, 0.8),
        {
          what: '  messages refused',
          unit: 'times',
          value: { p50: product.refused },
          aim: { p50: 0 },
        },
        toFirst(`${all}, in legs`, legs),
        toRate('  runs per second, in legs', legs, 2),
        {
          what: '  memory of the worker, most',
          unit: 'MB',
          value: { p50: product.memory.most },
          beside: { what: 'before', value: { p50: product.memory.before } },
        },
        {
          what: `    growth per run`,
          unit: 'MB',
          value: { p50: (product.memory.most - product.memory.before) / runs },
          beside: {
            what,
            value: { p50: (floor.memory.most - floor.memory.before) / runs },
          },
        },
      ],
      notes: [
        `${all}, each ${String(STEPS)} steps of ${String(TOKENS)} tokens at 50/s with a tool, and a last ` +
          `one: lost ${String(product.lost)}, doubled ${String(product.doubled)}; CPU % of a core: ${cpu}`,
      ],
    };
    return report;
  },
};

interface Performed {
  /** From the first run's start to the last one's end. */
  ms: number;
  firsts: number[];
  memory: { before: number; most: number };
}

interface Received {
  latencies: number[];
  lost: number;
  doubled: number;
  /** Number of repeated messages. */
  refused: number;
}

async function performRuns(
  { product, pids }: Bench,
  runs: number,
  agent = 'lab',
): Promise<Performed & Received> {
  const tallies = Array.from({ length: runs }, () => new StreamTally(newSessionId()));
  const firsts: number[] = [];
  let refused = 0;
  const performed = await timeAll(pids.worker, tallies, async (tally) => {
    tally.openWindow();
    const from = wallClock();
    let isFirst = true;
    const onEvent: OnEvent = (json, at) => {
      // The last step's word carries no stamp.
      if (json.endsWith('"delta":"done"}')) return;
      tally.acceptEvent(json, at);
      if (!isFirst || tally.received === 0) return;
      isFirst = false;
      firsts.push(at - from);
    };
    refused += await insist(product.port, tally.sessionId, TEXT, onEvent, agent);
  });
  const sent = runs * STEPS * TOKENS;
  const doubled = tallies.reduce((sum, tally) => sum + tally.doubled, 0);
  const received = tallies.reduce((sum, tally) => sum + tally.received, 0);
  const latencies = tallies.flatMap((tally) => tally.latencies);
  const lost = sent - (received - doubled);
  return { ...performed, firsts, latencies, doubled, lost, refused };
}

async function performBare({ floor, floorWorker }: Bench, runs: number): Promise<Performed> {
  const firsts: number[] = [];
  const all = Array.from({ length: runs });
  const performed = await timeAll(floorWorker.pid, all, async () => {
    firsts.push(await floor.runWork(STEPS, TOKENS * EVERY_MS));
  });
  return { ...performed, firsts };
}

/** Runs everything at once and watches the worker's memory. */
async function timeAll<T>(
  pid: number | undefined,
  all: readonly T[],
  work: (one: T) => Promise<void>,
): Promise<Omit<Performed, 'firsts'>> {
  const read = (): number => (pid === undefined ? NaN : (residentMegabytes(pid) ?? NaN));
  const before = read();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, read());
  }, MEMORY_EVERY_MS);
  const from = wallClock();
  try {
    await Promise.all(all.map(work));
  } finally {
    clearInterval(timer);
  }
  return { ms: wallClock() - from, memory: { before, most } };
}
