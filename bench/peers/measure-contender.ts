import { createLeave, sleep } from '../clock.js';
import type { Say } from '../command.js';
import type { Servers } from '../processes/product.js';
import { summarize, type Summary } from '../report.js';
import { Page } from '../client/page.js';
import type { History } from '../client/runs.js';
import type { BegunTurn, Contender, CpuSeconds, Running } from './contender.js';

/** A contender with running processes, and the CPU of these and of the engines. */
interface Measured {
  running: Running;
  cpu: () => CpuSeconds;
}

/** Returns the CPU seconds that pass during the work. */
async function spentDuring({ cpu }: Measured, work: () => Promise<unknown>): Promise<CpuSeconds> {
  const before = cpu();
  await work();
  return mapValues(cpu(), (seconds, name) => seconds - (before[name] ?? 0));
}

function mapValues(all: CpuSeconds, change: (value: number, name: string) => number): CpuSeconds {
  return Object.fromEntries(
    Object.entries(all).map(([name, value]) => [name, change(value, name)]),
  );
}

const TURN_OF_STEPS = { steps: 5, words: 5, everyMs: 0, stamp: false };
const IDLE_MS = 4_000;

interface TurnCost {
  /** ms of CPU per turn, by process, minus the idle load. */
  cpu: CpuSeconds;
  history: History;
}

/** Measures the cost of a turn of five steps with four tool calls. */
async function measureTurnCost(measured: Measured, turns: number): Promise<TurnCost> {
  const { running } = measured;
  const runTurn = (): Promise<void> =>
    running.begin(TURN_OF_STEPS, new Page(), createLeave().signal).response;
  await runTurn();
  await sleep(1_000);
  const idle = await spentDuring(measured, () => sleep(IDLE_MS));
  const startedAt = performance.now();
  const spent = await spentDuring(measured, async () => {
    for (let count = 0; count < turns; count += 1) await runTurn();
    await sleep(500);
  });
  const share = (performance.now() - startedAt) / IDLE_MS;
  const cpu = mapValues(spent, (seconds, name) =>
    Math.max(0, ((seconds - (idle[name] ?? 0) * share) * 1_000) / turns),
  );
  return { cpu, history: (await running.history?.()) ?? { events: NaN, bytes: NaN } };
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
  measured: Measured,
  { streams, readers, quick }: { streams: number; readers: number; quick: boolean },
): Promise<Streams> {
  const windowMs = quick ? 2_000 : WINDOW_MS;
  const rampMs = (streams / STARTS_PER_SECOND) * 1_000;
  const words = Math.ceil((rampMs + SETTLE_MS + windowMs + 6_000) / EVERY_MS);
  const turn = { steps: 1, words, everyMs: EVERY_MS, stamp: true };
  const leave = createLeave();
  const pages = Array.from({ length: streams * readers }, () => new Page());
  const ends: Promise<unknown>[] = [];
  const begin = async (at: number): Promise<void> => {
    await sleep(rampMs * ((at + Math.random()) / streams));
    const [first, ...others] = pages.slice(at * readers, (at + 1) * readers);
    if (first === undefined) return;
    const begun = measured.running.begin(turn, first, leave.signal);
    ends.push(begun.response.catch(() => undefined));
    await untilShown(first, begun);
    for (const page of others) ends.push(begun.attach(page, leave.signal).catch(() => undefined));
  };
  const all = Promise.all(Array.from({ length: streams }, (_, at) => begin(at)));
  await Promise.race([all, sleep(BEGUN_WITHIN_MS)]);
  await sleep(SETTLE_MS);

  const shownBefore = pages.map((page) => page.words.length);
  const spent = await spentDuring(measured, async () => {
    for (const page of pages) page.isOpen = true;
    await sleep(windowMs);
    for (const page of pages) page.isOpen = false;
  });
  const news = pages.map((page, at) => page.words.length - (shownBefore[at] ?? 0));
  const arrived = news.reduce((sum, count) => sum + count, 0);
  await Promise.race([Promise.all(ends), sleep(OVER_WITHIN_MS)]);
  leave.abort();
  return {
    latency: summarize(pages.flatMap(({ latencies }) => latencies)),
    begun: shownBefore.filter((count) => count > 0).length / readers,
    arrived: arrived / ((windowMs / EVERY_MS) * streams * readers),
    cpuPerWord: mapValues(spent, (seconds) => (seconds * 1e6) / arrived),
  };
}

function untilShown(page: Page, { response }: BegunTurn): Promise<unknown> {
  const shown = new Promise<void>((resolve) => (page.onWord = resolve));
  return Promise.race([shown, response.catch(() => undefined)]);
}

const TURN = { steps: 1, words: 200, everyMs: 25, stamp: false };
const CRASH_AFTER = 60;
/** Time limit for a turn to reach its crash, and after it. */
const GIVE_UP_MS = 30_000;
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
async function measureResume({ running }: Measured): Promise<Resumed> {
  const page = new Page();
  const leave = createLeave();
  const timer = setTimeout(() => leave.abort(), GIVE_UP_MS);
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
      timer.refresh();
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
  const shown = new Set(page.words).size;
  return { lost: TURN.words - shown, doubled: page.words.length - shown, nextWordMs };
}

/** Measures the pause, ms, from a step's last word to the next step's first, with a tool call between. */
async function measureStepGap({ running }: Measured, steps: number): Promise<Summary> {
  const page = new Page();
  const turn = { steps, words: 1, everyMs: 0, stamp: true };
  await running.begin(turn, page, createLeave().signal).response;
  const spoken = page.words.map(Number);
  return summarize(spoken.slice(1).map((at, index) => at - (spoken[index] ?? NaN)));
}

const STEPS = 20;
const TURNS = 10;
/** A measurement that hangs must not block the others. */
const LIMIT_MS = 4 * 60_000;

const CELLS = [
  { name: '1 × 1', streams: 1, readers: 1 },
  { name: '50 × 1', streams: 50, readers: 1 },
  { name: '200 × 1', streams: 200, readers: 1 },
  { name: '1 × 25', streams: 1, readers: 25 },
] as const;
export type CellName = (typeof CELLS)[number]['name'];

/** A figure, or the reason for its absence. */
export type Figure<T> = { value: T } | { missing: string };

export interface Figures {
  contender: Pick<Contender, 'name' | 'note'>;
  cells: Partial<Record<CellName, Figure<Streams>>>;
  stepGap: Figure<Summary>;
  cost: Figure<TurnCost>;
  resumed: Figure<Resumed>;
}

/** What all contenders are measured with. */
export interface Conditions {
  servers: Servers;
  folder: string;
  engines: () => CpuSeconds;
  quick: boolean;
  say: Say;
}

/** Takes all measurements of a contender, one after the other. */
export async function measureContender(
  contender: Contender,
  { servers, folder, engines, quick, say }: Conditions,
): Promise<Figures> {
  const { name, withoutSteps } = contender;
  say(`${name}: starting`);
  const running = await contender.start(servers, folder);
  const measured = { running, cpu: () => ({ ...running.cpuSeconds(), ...engines() }) };
  const attempt = async <T>(work: string, measure: () => Promise<T>): Promise<Figure<T>> => {
    say(`${name}: ${work}`);
    const late = { missing: `did not end within ${String(LIMIT_MS / 60_000)} minutes` };
    return Promise.race([
      measure().then((value) => ({ value })),
      sleep(LIMIT_MS).then(() => late),
    ]).catch((error: unknown) => ({ missing: `failed: ${String(error).slice(0, 200)}` }));
  };
  const ofSteps = async <T>(work: string, measure: () => Promise<T>): Promise<Figure<T>> =>
    withoutSteps === undefined ? attempt(work, measure) : { missing: withoutSteps };
  try {
    const stepGap = await ofSteps('step gap', () => measureStepGap(measured, quick ? 5 : STEPS));
    const cost = await ofSteps('turns', () => measureTurnCost(measured, quick ? 2 : TURNS));
    const cells: Figures['cells'] = {};
    for (const { name: cell, ...size } of CELLS) {
      if (quick && size.streams > 50) continue;
      const measure = (): Promise<Streams> => measureStreams(measured, { ...size, quick });
      cells[cell] = await attempt(`${cell} readers`, measure);
    }
    const resumed = await attempt('kill -9 in the middle of a reply', () =>
      measureResume(measured),
    );
    return { contender, cells, stepGap, cost, resumed };
  } finally {
    await running.stop();
  }
}
