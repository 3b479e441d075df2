import type { Bench, Measurement } from '../bench.js';
import { followRaw } from '../client/raw-stream.js';
import { performLongRun, toStepGaps, readHistory, type FinishedRun } from '../client/runs.js';
import { createLeave, sleep } from '../clock.js';
import type { Floor } from '../floor/floor-client.js';
import { createTalkativeAgent, DELTAS } from '../load/talkative-agent.js';
import type { Asked } from '../load/talkative-worker.js';
import { startChild } from '../processes/child.js';
import { summarize, type Report, type Row, type Summary } from '../report.js';

const LOOK_EVERY_MS = 200;

/** Duration and time of a pause between two bare activities. */
interface BareGap {
  at: number;
  ms: number;
}

/** Samples bare activities until the work is done, because the machine's speed varies over minutes. */
async function watchGaps(floor: Floor, work: Promise<unknown>): Promise<BareGap[]> {
  const over = new AbortController();
  const end = (): void => {
    over.abort();
  };
  work.then(end, end);
  const gaps: BareGap[] = [];
  while (!over.signal.aborted) {
    const { spans } = await floor.runSteps(3);
    for (const [index, { end: at }] of spans.slice(0, -1).entries()) {
      gaps.push({ at, ms: (spans[index + 1]?.begin ?? NaN) - at });
    }
    await sleep(LOOK_EVERY_MS);
  }
  return gaps;
}

/** Counts the words of a text `<number>:<wall clock>:…`, numbered from 1. */
class WordTally {
  readonly latencies: number[] = [];
  received = 0;
  lost = 0;
  /** Words seen before or out of order. */
  doubled = 0;
  #newest = 0;

  /** Takes an event's JSON from the UI message stream. */
  acceptEvent(json: string, at: number): void {
    if (!json.startsWith('{"type":"text-delta"')) return;
    const { delta } = JSON.parse(json) as { delta: string };
    for (const word of delta.trimEnd().split(' ')) {
      const [number = NaN, saidAt = NaN] = word.split(':').map(Number);
      this.received += 1;
      this.latencies.push(at - saidAt);
      if (number <= this.#newest) this.doubled += 1;
      else this.lost += number - this.#newest - 1;
      this.#newest = Math.max(this.#newest, number);
    }
  }

  /** Counts the sent words that never arrived. */
  close(sent: number): void {
    this.lost += sent - this.#newest;
  }
}

const STEPS = 1_000;
const QUICK_STEPS = 100;
/** Each figure covers this many steps up to its place, because a single step says little. */
const NEIGHBOURS = 20;
const QUEUE = 'bench-long';
/** Rule of thumb for English. */
const CHARACTERS_PER_TOKEN = 4;
/** Limit for a thousand model calls. */
const HISTORY_MB = 5;

/** A thousand model calls in one turn, whose transcript grows to 200k tokens, with a page attached. */
export const longConversation: Measurement = {
  name: 'long-conversation',
  take: async (bench) => {
    const steps = bench.isQuick ? QUICK_STEPS : STEPS;
    const { servers, say } = bench;
    const args = [servers.redisUrl, servers.temporalAddress, QUEUE, String(steps)];
    const nodeArgs = ['--max-semi-space-size=64'];
    const worker = startChild('bench/load/talkative-worker.js', { args, nodeArgs });
    try {
      say(`long-conversation: ${String(steps)} steps`);
      const performing = perform(bench, steps);
      const watching = watchGaps(bench.floor, performing);
      const asked = await hearAll(worker.hear, steps, say);
      const { run, tally } = await performing;
      return await toReport(bench, { steps, asked, run, tally, bare: await watching });
    } finally {
      await worker.stop();
    }
  },
};

interface Performed {
  steps: number;
  asked: Asked[];
  run: FinishedRun;
  tally: WordTally;
  /** Pauses of bare activities in the same period. */
  bare: BareGap[];
}

/** Performs the turn while a page reads it from the first word to the last. */
async function perform(bench: Bench, steps: number): Promise<Pick<Performed, 'run' | 'tally'>> {
  const tally = new WordTally();
  const leave = createLeave();
  let page: Promise<void> | undefined;
  const run = await performLongRun(bench, {
    agent: createTalkativeAgent(steps),
    taskQueue: QUEUE,
    text: 'Talk to me.',
    onBegun: (sessionId) => {
      page = followRaw(
        bench.product.port,
        sessionId,
        (json, at) => {
          tally.acceptEvent(json, at);
          if (json.startsWith('{"type":"finish"')) leave.abort();
        },
        leave.signal,
      );
      // The loss count shows a page that was cut.
      page.catch(() => undefined);
    },
  });
  await page?.catch(() => undefined);
  tally.close(steps * DELTAS);
  return { run, tally };
}

/** Collects the worker's reports. */
async function hearAll(
  hear: () => Promise<unknown>,
  steps: number,
  say: Bench['say'],
): Promise<Asked[]> {
  const asked: Asked[] = [];
  for (let step = 0; step < steps;) {
    const news = (await hear()) as Asked;
    asked[news.step] = news;
    if (news.step > step && news.step % 200 === 0) say(`long-conversation: ${String(news.step)}`);
    ({ step } = news);
  }
  return asked;
}

async function toReport(bench: Bench, performed: Performed): Promise<Report> {
  const { steps, asked, run, tally, bare } = performed;
  const history = await readHistory(bench.temporal, run.workflowId);
  const all = `${String(steps)} model calls`;
  const { model: gaps, beganAt } = toStepGaps(run.log);
  const places = [10, 100, 500, 1_000].filter((place) => place <= steps);
  const rows: Row[] = [
    {
      what: `${all}: history in Temporal`,
      unit: 'MB',
      value: { p50: history.bytes / 1e6 },
      aim: { p50: (HISTORY_MB * steps) / STEPS },
    },
  ];
  for (const place of places) {
    const from = beganAt[Math.max(2, place - 2 * NEIGHBOURS)] ?? NaN;
    const to = beganAt[Math.min(steps, place + 2 * NEIGHBOURS)] ?? NaN;
    const meanwhile = bare.filter(({ at }) => at >= from && at <= to).map(({ ms }) => ms);
    rows.push({
      what: `  tool's result → model, step ${String(place)}`,
      unit: 'ms',
      value: around(gaps, place),
      beside: { what: 'one bare activity meanwhile', value: summarize(meanwhile) },
      aim: { ratio: 1.3 },
    });
  }
  for (const place of places) {
    const cpu = asked.map(({ cpu: used }, step) => used - (asked[step - 1]?.cpu ?? NaN));
    rows.push({
      what: `  worker's CPU for step ${String(place)}, its tool included`,
      unit: 'ms',
      value: around(cpu, place),
      beside: { what: 'prompt as JSON', value: { p50: asked[place]?.toJson?.ms ?? NaN } },
    });
  }
  const resident = asked.map((each) => each.resident);
  rows.push(
    {
      what: '  memory of the worker, most',
      unit: 'MB',
      value: { p50: Math.max(...resident.slice(1)) },
      beside: { what: 'at the first call', value: { p50: resident[1] ?? NaN } },
    },
    { what: '  model → page', unit: 'ms', value: summarize(tally.latencies) },
  );
  const tokens = (asked[steps]?.toJson?.characters ?? NaN) / CHARACTERS_PER_TOKEN / 1_000;
  const notes = [
    `${all}: the last prompt has ${tokens.toFixed(0)}k tokens; executions ${String(history.executions)}, ` +
      `events ${String(history.events)}; the page lost ${String(tally.lost)} and had doubled ` +
      `${String(tally.doubled)} of ${String(steps * DELTAS)}`,
  ];
  return { rows, notes };
}

function around(byStep: readonly number[], place: number): Summary {
  return summarize(byStep.slice(Math.max(2, place - NEIGHBOURS + 1), place + 1));
}
