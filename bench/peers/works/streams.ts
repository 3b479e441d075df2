import { createLeave, sleep } from '../../clock.js';
import { summarize, type Summary } from '../../report/statistics.js';
import type { BegunTurn, CpuSeconds, Running } from '../contender.js';
import { WordsShown } from '../words-shown.js';

export const EVERY_MS = 20;
const STARTS_PER_SECOND = 25;
const SETTLE_MS = 1_500;
const WINDOW_MS = 8_000;
const BEGUN_WITHIN_MS = 20_000;
const OVER_WITHIN_MS = 30_000;

export interface Streams {
  latency: Summary;
  /** Streams that had begun in time. */
  begun: number;
  /** Words that arrived of those that the window should bring. */
  arrived: number;
  /** µs of CPU for each word that arrived, by process. */
  cpuPerWord: CpuSeconds;
}

/** So many replies at once, 50 words a second each, to so many readers of each. */
export async function measureStreams(
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
