import { createLeave, sleep } from '../clock.js';
import type { Servers } from '../processes/product.js';
import { summarize, type Summary } from '../report.js';
import {
  WordsShown,
  type BegunTurn,
  type Contender,
  type CpuSeconds,
  type Running,
} from './contender.js';

const TURN_OF_STEPS = { steps: 5, words: 5, everyMs: 0, stamp: false };
const IDLE_MS = 4_000;

interface TurnCost {
  /** ms of CPU per turn, by process, minus the idle load. */
  cpu: CpuSeconds;
  history: { events: number; bytes: number };
}

/** Measures the cost of a turn of five steps with four tool calls. */
async function measureTurnCost(
  running: Running,
  turns: number,
  engines: () => CpuSeconds,
): Promise<TurnCost> {
  const read = (): CpuSeconds => ({ ...running.cpuSeconds(), ...engines() });
  await runTurn(running);
  await sleep(1_000);
  const idleFrom = read();
  await sleep(IDLE_MS);
  const idle = minus(read(), idleFrom);

  const from = read();
  const startedAt = performance.now();
  for (let count = 0; count < turns; count += 1) await runTurn(running);
  await sleep(500);
  const share = (performance.now() - startedAt) / IDLE_MS;
  const spent = minus(read(), from);
  const cpu = Object.fromEntries(
    Object.entries(spent).map(([name, seconds]) => [
      name,
      Math.max(0, ((seconds - (idle[name] ?? 0) * share) * 1_000) / turns),
    ]),
  );
  return { cpu, history: (await running.history?.()) ?? { events: NaN, bytes: NaN } };
}

async function runTurn(running: Running): Promise<void> {
  await running.begin(TURN_OF_STEPS, new WordsShown(), createLeave().signal).response;
}

function minus(now: CpuSeconds, before: CpuSeconds): CpuSeconds {
  return Object.fromEntries(
    Object.entries(now).map(([name, seconds]) => [name, seconds - (before[name] ?? 0)]),
  );
}

const EVERY_MS = 20;
const STARTS_PER_SECOND = 25;
const SETTLE_MS = 1_500;
const WINDOW_MS = 8_000;
const BEGUN_WITHIN_MS = 20_000;
const OVER_WITHIN_MS = 30_000;

export interface Streams {
  latency: Summary;
  /** Streams that had begun in time. */
  begun: number;
  /** Share of the expected words that arrived in the window. */
  arrived: number;
  /** µs of CPU per word that arrived, by process. */
  cpuPerWord: CpuSeconds;
}

/** Measures concurrent replies of 50 words a second each, with several readers per reply. */
async function measureStreams(
  running: Running,
  { streams, readers, isQuick }: { streams: number; readers: number; isQuick: boolean },
  engines: () => CpuSeconds,
): Promise<Streams> {
  const windowMs = isQuick ? 2_000 : WINDOW_MS;
  const rampMs = (streams / STARTS_PER_SECOND) * 1_000;
  const words = Math.ceil((rampMs + SETTLE_MS + windowMs + 6_000) / EVERY_MS);
  const turn = { steps: 1, words, everyMs: EVERY_MS, stamp: true };
  const leave = createLeave();
  const pages = Array.from({ length: streams * readers }, () => new WordsShown());
  const ends: Promise<unknown>[] = [];
  const begin = async (at: number): Promise<void> => {
    await sleep(rampMs * ((at + Math.random()) / streams));
    const [first, ...others] = pages.slice(at * readers, (at + 1) * readers);
    if (first === undefined) return;
    const begun = running.begin(turn, first, leave.signal);
    ends.push(begun.response.catch(() => undefined));
    await untilShown(first, begun);
    for (const page of others) ends.push(begun.attach(page, leave.signal).catch(() => undefined));
  };
  const all = Promise.all(Array.from({ length: streams }, (_, at) => begin(at)));
  await Promise.race([all, sleep(BEGUN_WITHIN_MS)]);
  await sleep(SETTLE_MS);

  const before = { ...running.cpuSeconds(), ...engines() };
  const shownBefore = pages.map((page) => page.words.length);
  for (const page of pages) page.isOpen = true;
  await sleep(windowMs);
  for (const page of pages) page.isOpen = false;
  const after: CpuSeconds = { ...running.cpuSeconds(), ...engines() };
  const arrived = pages.reduce(
    (sum, page, at) => sum + page.words.length - (shownBefore[at] ?? 0),
    0,
  );
  await Promise.race([Promise.all(ends), sleep(OVER_WITHIN_MS)]);
  leave.abort();
  return {
    latency: summarize(pages.flatMap(({ latencies }) => latencies)),
    begun: shownBefore.filter((count) => count > 0).length / readers,
    arrived: arrived / ((windowMs / EVERY_MS) * streams * readers),
    cpuPerWord: Object.fromEntries(
      Object.entries(after).map(([name, now]) => [
        name,
        ((now - (before[name as keyof typeof before] ?? 0)) * 1e6) / arrived,
      ]),
    ),
  };
}

function untilShown(page: WordsShown, { response }: BegunTurn): Promise<unknown> {
  const shown = new Promise<void>((resolve) => (page.onWord = resolve));
  return Promise.race([shown, response.catch(() => undefined)]);
}

const TURN = { steps: 1, words: 200, everyMs: 25, stamp: false };
const CRASH_AFTER = 60;
/** Time limit after the crash. */
const GIVE_UP_MS = 30_000;
/** Time limit for a turn to reach its crash. */
const CRASH_WITHIN_MS = 30_000;
const PAUSE_MS = 250;

export interface Resumed {
  /** Words that the page did not show within half a minute of the crash. */
  lost: number;
  /** Words that the page showed twice. */
  doubled: number;
  /** From the crash to the next new word, ms; NaN if none came. */
  nextWordMs: number;
}

/** Measures a reply whose process is killed and restarted while its reader reconnects. */
async function measureResume(running: Running): Promise<Resumed> {
  const page = new WordsShown();
  const leave = createLeave();
  const giveUp = (): void => {
    leave.abort();
  };
  let timer = setTimeout(giveUp, CRASH_WITHIN_MS);
  const seen = new Set<string>();
  let crashedAt: number | undefined;
  let nextWordMs = NaN;
  let crash: Promise<void> | undefined;
  page.onWord = () => {
    const known = seen.size;
    for (const word of page.words) seen.add(word);
    if (crash === undefined && seen.size >= CRASH_AFTER) {
      crashedAt = performance.now();
      crash = running.crash();
      clearTimeout(timer);
      timer = setTimeout(giveUp, GIVE_UP_MS);
    } else if (crashedAt !== undefined && seen.size > known && Number.isNaN(nextWordMs)) {
      // Words in flight at the crash do not count.
      const ms = performance.now() - crashedAt;
      if (ms > 500) nextWordMs = ms;
    }
  };
  const turn = running.begin(TURN, page, leave.signal);
  await turn.response.catch(() => undefined);
  while (seen.size < TURN.words && !leave.signal.aborted) {
    await turn.attach(page, leave.signal).catch(() => undefined);
    await sleep(PAUSE_MS);
  }
  clearTimeout(timer);
  await crash;
  return { lost: TURN.words - new Set(page.words).size, doubled: page.doubled(), nextWordMs };
}

const STEPS = 20;
const TURNS = 10;
/** A measurement that hangs must not block the others. */
const LIMIT_MS = 4 * 60_000;

export type CellName = '1 × 1' | '50 × 1' | '200 × 1' | '1 × 25';
const CELLS: readonly { name: CellName; streams: number; readers: number }[] = [
  { name: '1 × 1', streams: 1, readers: 1 },
  { name: '50 × 1', streams: 50, readers: 1 },
  { name: '200 × 1', streams: 200, readers: 1 },
  { name: '1 × 25', streams: 1, readers: 25 },
];

/** A figure, or the reason for its absence. */
export type Figure<T> = { value: T } | { missing: string };

export interface Figures {
  contender: Pick<Contender, 'name' | 'note'>;
  cells: Partial<Record<CellName, Figure<Streams>>>;
  stepGap: Figure<Summary>;
  cost: Figure<TurnCost>;
  resumed: Figure<Resumed>;
}

/** Takes all measurements of a contender, one after the other. */
export async function measureContender(input: {
  contender: Contender;
  servers: Servers;
  folder: string;
  engines: () => CpuSeconds;
  isQuick: boolean;
  say: (text: string) => void;
}): Promise<Figures> {
  const { contender, servers, folder, engines, isQuick, say } = input;
  const { name, withoutSteps } = contender;
  say(`${name}: starting`);
  const running = await contender.start(servers, folder);
  const attempt = async <T>(
    work: string,
    measure: (on: Running) => Promise<T>,
  ): Promise<Figure<T>> => {
    say(`${name}: ${work}`);
    return Promise.race([
      measure(running).then((value) => ({ value })),
      new Promise<Figure<T>>((resolve) =>
        setTimeout(() => {
          resolve({ missing: `did not end within ${String(LIMIT_MS / 60_000)} minutes` });
        }, LIMIT_MS).unref(),
      ),
    ]).catch((error: unknown) => ({ missing: `failed: ${String(error).slice(0, 200)}` }));
  };
  try {
    const stepGap: Figures['stepGap'] =
      withoutSteps === undefined
        ? await attempt('step gap', (on) => measureStepGap(on, isQuick ? 5 : STEPS))
        : { missing: withoutSteps };
    const cost: Figures['cost'] =
      withoutSteps === undefined
        ? await attempt('turns', (on) => measureTurnCost(on, isQuick ? 2 : TURNS, engines))
        : { missing: withoutSteps };
    const cells: Figures['cells'] = {};
    for (const { name: cell, streams, readers } of CELLS) {
      if (isQuick && streams > 50) continue;
      const size = { streams, readers, isQuick };
      cells[cell] = await attempt(`${cell} readers`, (on) => measureStreams(on, size, engines));
    }
    const resumed = await attempt('kill -9 in the middle of a reply', measureResume);
    return { contender, cells, stepGap, cost, resumed };
  } finally {
    await running.stop();
  }
}

/** Measures the pause, ms, from a step's last word to the next step's first, with a tool call between. */
async function measureStepGap(running: Running, steps: number): Promise<Summary> {
  const page = new WordsShown();
  const turn = { steps, words: 1, everyMs: 0, stamp: true };
  await running.begin(turn, page, createLeave().signal).response;
  const spoken = page.words.map(Number);
  return summarize(spoken.slice(1).map((at, index) => at - (spoken[index] ?? NaN)));
}
