import type { Bench, Take } from '../bench.js';
import { newSessionId, toLabText } from '../client/chat-client.js';
import { createWords, Page } from '../client/page.js';
import { measureRedisFloor } from '../client/stamped-streams.js';
import { sleep, untilFound } from '../clock.js';
import { startCpuMeter, type CpuShares } from '../processes/usage.js';
import { row, type Aim, type Row } from '../report.js';

const EVERY_MS = 20;
const WINDOW_MS = 15_000;
/** Turns begun per second; more would pile up in the engine before the window opens. */
const STARTS_PER_SECOND = 25;
const BEGUN_WITHIN_MS = 45_000;
const SETTLE_MS = 1_500;
/** Longer than any stream runs before it is stopped. */
const MAX_MS = BEGUN_WITHIN_MS + SETTLE_MS + WINDOW_MS + 30_000;

const TEXT = toLabText({ stamp: true, deltas: MAX_MS / EVERY_MS, everyMs: EVERY_MS });
/** Aims by number of streams. */
const AIMS: Readonly<Record<number, Aim>> = {
  50: { ratio: 2, ratioP99: 3 },
  200: { ratio: 2, ratioP99: 1 },
};
/** µs of CPU per chunk that reaches its reader, with this many streams; with fewer, fixed costs weigh more. */
const CPU_STREAMS = 200;
const CPU_AIMS = { worker: 35, api: 20, redis: 16, temporal: 3 };

/** Latency from the model to the reader of the HTTP stream. */
export const take: Take = async (bench) => {
  const { quick, pids, servers, say } = bench;
  // A server that has just started still does work of its own.
  await sleep(quick ? 2_000 : 10_000);
  const readIdle = startCpuMeter({ temporal: pids.temporal });
  await sleep(quick ? 1_000 : 5_000);
  const { temporal: idle = NaN } = readIdle();
  const rows: Row[] = [];
  for (const streams of quick ? [20] : [50, 200]) {
    const { pages, latencies, cpu, rate } = await measureStreams(bench, streams);
    say(`chunk-latency: ${String(streams)} streams, floor`);
    const size = { streams, stamps: (quick ? 1_000 : 8_000) / EVERY_MS, everyMs: EVERY_MS };
    const floor = await measureRedisFloor(servers.redisUrl, size);
    // If the engine cannot start all streams, the row covers those that run, and says so.
    const begun = pages.length < streams ? `${String(pages.length)} of ` : '';
    const what = `chunk latency, ${begun}${String(streams)} × 50/s`;
    const beside = ['XADD → blocking XREAD', floor] as const;
    rows.push(row(what, 'ms', latencies, { beside, aim: AIMS[streams] }));
    if (streams === CPU_STREAMS) rows.push(...toCpuRows(cpu, idle, rate));
  }
  return rows;
};

/** `pages` show the streams that had begun in time; `rate` is the chunks per second that they received. */
async function measureStreams({ chat, pids, quick, say }: Bench, streams: number) {
  const label = `chunk-latency: ${String(streams)} streams`;
  const all = Array.from({ length: streams }, () => new Page());
  const sessionIds = all.map(() => newSessionId());
  say(`${label}, starting`);
  // The replies begin at different moments, so that the streams do not tick in step.
  const replies = all.map(async (page, index) => {
    await sleep((1000 / STARTS_PER_SECOND) * (index + Math.random()));
    await chat.say(sessionIds[index] ?? '', TEXT, createWords(page));
  });
  const finished = Promise.all(replies);
  const hasBegun = ({ words }: Page): boolean => words.length > 0;
  const haveBegun = async () => all.every(hasBegun) || undefined;
  await Promise.race([finished, untilFound(haveBegun, { withinMs: BEGUN_WITHIN_MS, everyMs: 50 })]);
  const pages = all.filter(hasBegun);
  await sleep(SETTLE_MS);

  const windowMs = quick ? 2_000 : WINDOW_MS;
  say(`${label}, ${String(windowMs / 1000)} s`);
  const readCpu = startCpuMeter(pids);
  for (const page of pages) page.isOpen = true;
  await sleep(windowMs);
  for (const page of pages) page.isOpen = false;
  const cpu = readCpu();

  await Promise.all(sessionIds.map((sessionId) => chat.stop(sessionId)));
  await finished;
  const latencies = pages.flatMap((page) => page.latencies);
  return { pages, latencies, cpu, rate: (1_000 * latencies.length) / windowMs };
}

/** Temporal's share excludes its idle load, in percent of a core. */
function toCpuRows(cpu: CpuShares, idle: number, rate: number): Row[] {
  return (['worker', 'api', 'redis', 'temporal'] as const).map((name) => {
    const share = Math.max(0, (cpu[name] ?? NaN) - (name === 'temporal' ? idle : 0));
    const aim = { p50: CPU_AIMS[name] };
    return row(`  CPU of ${name} for a chunk`, 'µs', (share * 10_000) / rate, { aim });
  });
}
