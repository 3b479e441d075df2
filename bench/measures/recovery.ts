import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench, Measurement } from '../bench.js';
import { createChatClient, newSessionId } from '../client/chat-client.js';
import { toLabText } from '../client/lab-script.js';
import { sayRaw } from '../client/raw-stream.js';
import { runOf } from '../client/runs.js';
import { createLeave, sleep, wallClock } from '../clock.js';
import { createFloor, untilAtWork } from '../floor/floor-client.js';
import { startChild, type Child } from '../processes/child.js';
import {
  pidOf,
  startProduct,
  startSupervised,
  startWorker,
  untilPolls,
  type Product,
} from '../processes/product.js';
import { summarize, type Aim, type Row } from '../report.js';

const SAMPLES = 6;
/** The kill falls at a random moment between two heartbeats. */
const BEFORE_KILL_MS = 4_000;
const AIMS = { second: { p50: 2_000, p99: 3_000 }, only: { p99: 4_000 } };
/** After this time the sample has no figure. */
const GIVE_UP_MS = 60_000;

const TEXT = toLabText({ stamp: true, deltas: 3_000, everyMs: 20 });

/**
 * Time from `kill -9` of the worker in a reply to the reader's next token: with a second worker, and with
 * only the one that `npm start` restarts. Compared with a bare activity of a killed worker, with a second
 * worker.
 */
export const recovery: Measurement = {
  name: 'recovery',
  take: async (bench) => {
    const count = bench.isQuick ? 1 : SAMPLES;
    const bare = await measureBare(bench, count);
    const second = await measureSecondWorker(bench, count);
    const restarted = await measureRestart(bench, count);
    const beside = { what: 'bare activity, second worker', value: summarize(bare) };
    const toRow = (what: string, samples: readonly number[], aim: Aim): Row => ({
      what,
      unit: 'ms',
      value: summarize(samples),
      beside,
      aim,
    });
    return {
      rows: [
        toRow('kill -9 → next token, second worker', second, AIMS.second),
        toRow('  only worker, started again', restarted, AIMS.only),
      ],
      notes: [],
    };
  },
};

async function measureBare({ servers, temporal, say }: Bench, count: number): Promise<number[]> {
  const queue = 'bench-floor-killed';
  const start = (): Child =>
    startChild('bench/floor/worker.js', {
      args: [queue],
      env: { TEMPORAL_ADDRESS: servers.temporalAddress },
    });
  const floor = createFloor(temporal, queue);
  const workers = [start(), start()];
  const samples: number[] = [];
  try {
    while (samples.length < count) {
      for (const { pid } of workers) await untilPolls(temporal, queue, pid);
      say(`recovery: bare activity, ${String(samples.length + 1)} of ${String(count)}`);
      const { worker, retried } = await floor.startOutliving();
      await sleep(Math.random() * BEFORE_KILL_MS);
      const from = wallClock();
      process.kill(pidOf(worker), 'SIGKILL');
      samples.push((await retried) - from);
      if (samples.length < count) replace(workers, pidOf(worker), start);
    }
  } finally {
    await Promise.all(workers.map(({ stop }) => stop()));
  }
  return samples;
}

async function measureSecondWorker(bench: Bench, count: number): Promise<number[]> {
  const { servers, temporal, say } = bench;
  const queue = 'bench-killed';
  const product = await startProduct(servers, queue);
  const start = (): Child => startWorker(servers, queue);
  const workers = [product.worker, start()];
  const samples: number[] = [];
  try {
    while (samples.length < count) {
      for (const { pid } of workers) await untilPolls(temporal, queue, pid);
      say(`recovery: second worker, ${String(samples.length + 1)} of ${String(count)}`);
      const { ms, pid } = await timeKill(bench, product);
      samples.push(ms);
      if (samples.length < count) replace(workers, pid, start);
    }
  } finally {
    await Promise.all([product.api.stop(), ...workers.map(({ stop }) => stop())]);
  }
  return samples;
}

async function measureRestart(bench: Bench, count: number): Promise<number[]> {
  const folder = await mkdtemp(join(tmpdir(), 'helix-bench-'));
  const product = await startSupervised(bench.servers, 'bench-restarted', folder);
  const samples: number[] = [];
  try {
    while (samples.length < count) {
      bench.say(`recovery: only worker, ${String(samples.length + 1)} of ${String(count)}`);
      samples.push((await timeKill(bench, product)).ms);
    }
  } finally {
    await product.stop();
    await rm(folder, { recursive: true, force: true });
  }
  return samples;
}

/** Kills the worker of the reply. */
async function timeKill(
  bench: Bench,
  { port }: Pick<Product, 'port'>,
): Promise<{ ms: number; pid: number }> {
  const sessionId = newSessionId();
  const chat = createChatClient(port);
  const leave = createLeave();
  let killedAt = Infinity;
  let heardAt: number | undefined;
  const reader = sayRaw(
    port,
    sessionId,
    TEXT,
    (json, at) => {
      if (heardAt !== undefined || !json.startsWith('{"type":"text-delta"')) return;
      const { delta } = JSON.parse(json) as { delta: string };
      // The dead worker's last text may still arrive.
      if (Number(delta.trimEnd().split(' ').at(-1)) <= killedAt) return;
      heardAt = at;
      leave.abort();
    },
    { headers: { 'x-ai-sdk-profile': 'v7' }, signal: leave.signal },
  );
  try {
    const workflow = await runOf(bench, sessionId);
    const pid = pidOf(await untilAtWork(workflow));
    await sleep(1_000 + Math.random() * BEFORE_KILL_MS);
    killedAt = wallClock();
    process.kill(pid, 'SIGKILL');
    const timer = setTimeout(() => {
      leave.abort();
    }, GIVE_UP_MS);
    await reader;
    clearTimeout(timer);
    await chat.stop(sessionId);
    return { ms: (heardAt ?? NaN) - killedAt, pid };
  } finally {
    leave.abort();
    chat.close();
  }
}

/** Starts the dead worker's successor. */
function replace(workers: Child[], pid: number, start: () => Child): void {
  workers[workers.findIndex((worker) => worker.pid === pid)] = start();
}
