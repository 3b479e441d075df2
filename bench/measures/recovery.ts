import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { takeSamples, type Bench, type Take } from '../bench.js';
import { createChatClient, newSessionId, toLabText } from '../client/chat-client.js';
import { deltaOf } from '../client/page.js';
import { runOf } from '../client/runs.js';
import { createLeave, sleep, wallClock } from '../clock.js';
import { createFloor, untilAtWork } from '../floor/floor-client.js';
import { startChild, type Child } from '../processes/child.js';
import { pidOf, startApi, startSupervised, startWorker, untilPolls } from '../processes/product.js';
import { row } from '../report.js';

/** The kill falls at a random moment between two heartbeats. */
const BEFORE_KILL_MS = 4_000;
/** After this time the sample has no figure. */
const GIVE_UP_MS = 60_000;

const TEXT = toLabText({ stamp: true, deltas: 3_000, everyMs: 20 });

/** A kill's time until work went on, and the process that was killed. */
interface Kill {
  ms: number;
  pid: number;
}

/**
 * Time from `kill -9` of the worker in a reply to the reader's next token: with a second worker, and with
 * only the one that `npm start` restarts. Compared with a bare activity of a killed worker, with a second
 * worker.
 */
export const take: Take = async (bench) => {
  const { servers, temporal, say } = bench;
  const count = bench.quick ? 1 : 6;
  const bareQueue = 'bench-floor-killed';
  const floor = createFloor(temporal, bareQueue);
  const startBare = (): Child =>
    startChild('bench/floor/worker.js', {
      args: [bareQueue],
      env: { TEMPORAL_ADDRESS: servers.temporalAddress },
    });
  say('recovery: bare activity');
  const bare = await killOneOfTwo(bench, count, bareQueue, startBare, async () => {
    const { worker, retried } = await floor.startOutliving();
    await sleep(Math.random() * BEFORE_KILL_MS);
    const from = wallClock();
    process.kill(pidOf(worker), 'SIGKILL');
    return { ms: (await retried) - from, pid: pidOf(worker) };
  });

  say('recovery: second worker');
  const second = await killSecond(bench, count);

  say('recovery: only worker');
  const only = await killOnly(bench, count);
  const beside = ['bare activity, second worker', bare] as const;
  const aim = { p50: 2_000, p99: 3_000 };
  return [
    row('kill -9 → next token, second worker', 'ms', second, { beside, aim }),
    row('  only worker, started again', 'ms', only, { beside, aim: { p99: 4_000 } }),
  ];
};

/** Takes samples of a kill of one of two workers; each dead one gets a successor before the next sample. */
async function killOneOfTwo(
  { temporal }: Bench,
  count: number,
  queue: string,
  start: () => Child,
  kill: () => Promise<Kill>,
): Promise<number[]> {
  const workers = [start(), start()];
  try {
    return await takeSamples({ count }, async () => {
      for (const { pid } of workers) await untilPolls(temporal, queue, pid);
      const { ms, pid } = await kill();
      workers[workers.findIndex((worker) => worker.pid === pid)] = start();
      return ms;
    });
  } finally {
    await Promise.all(workers.map(({ stop }) => stop()));
  }
}

/** Starts the API after the workers, since it is ready only once a worker polls. */
async function killSecond(bench: Bench, count: number): Promise<number[]> {
  const queue = 'bench-killed';
  const start = (): Child => startWorker(bench.servers, queue);
  let api: ReturnType<typeof startApi> | undefined;
  try {
    return await killOneOfTwo(bench, count, queue, start, async () => {
      api ??= startApi(bench.servers, queue);
      return timeKill(bench, (await api).port);
    });
  } finally {
    await (await api)?.stop();
  }
}

async function killOnly(bench: Bench, count: number): Promise<number[]> {
  const folder = await mkdtemp(join(tmpdir(), 'helix-bench-'));
  const product = await startSupervised(bench.servers, 'bench-restarted', folder);
  try {
    return await takeSamples({ count }, async () => (await timeKill(bench, product.port)).ms);
  } finally {
    await product.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Kills the worker of a reply. */
async function timeKill(bench: Bench, port: number): Promise<Kill> {
  const sessionId = newSessionId();
  const leave = createLeave();
  let killedAt = Infinity;
  let heardAt: number | undefined;
  const onEvent = (json: string, at: number): void => {
    if (heardAt !== undefined || !json.startsWith('{"type":"text-delta"')) return;
    // The dead worker's last text may still arrive.
    if (Number(deltaOf(json).trimEnd().split(' ').at(-1)) <= killedAt) return;
    heardAt = at;
    leave.abort();
  };
  const chat = createChatClient(port);
  const headers = { 'x-ai-sdk-profile': 'v7' };
  const reader = chat.say(sessionId, TEXT, onEvent, { headers, signal: leave.signal });
  try {
    const pid = pidOf(await untilAtWork(await runOf(bench, sessionId)));
    await sleep(1_000 + Math.random() * BEFORE_KILL_MS);
    killedAt = wallClock();
    process.kill(pid, 'SIGKILL');
    const timer = setTimeout(() => leave.abort(), GIVE_UP_MS);
    await reader;
    clearTimeout(timer);
    await chat.stop(sessionId);
    return { ms: (heardAt ?? NaN) - killedAt, pid };
  } finally {
    leave.abort();
  }
}
