import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLabAgent } from '../../examples/index.js';
import { TASK_QUEUE, type Bench, type Measurement } from '../bench.js';
import { toEchoSteps } from '../client/lab-script.js';
import { performLongRun } from '../client/long-run.js';
import { untilPolls } from '../processes/pollers.js';
import { startProduct } from '../processes/product.js';
import type { Row } from '../report/row.js';
import { summarize, type Summary } from '../report/statistics.js';
import { measureCell } from './stream-cell.js';

const TRACED_QUEUE = 'bench-traced';
const STEPS = 150;
/** The first steps of a worker load what the others have. */
const WARM = 10;
const ROUNDS = 4;
const STREAMS = 20;

/** The pause between two steps, and the token path, with traces exported, beside the same without. */
export const traced: Measurement = {
  name: 'traced',
  take: async (bench) => {
    const collector = await startCollector();
    const product = await startProduct(bench.servers, TRACED_QUEUE, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_METRICS_EXPORTER: 'none',
    });
    const pids = { ...bench.pids, worker: product.worker.pid, api: product.api.pid };
    const withTraces = { ...bench, product, pids };
    try {
      await untilPolls(bench.temporal, TRACED_QUEUE, product.worker.pid);
      const rows = [
        await compareGaps(bench),
        toRow(`chunk latency with traces, ${String(STREAMS)} × 50/s`, {
          plain: (await measureCell(bench, STREAMS)).latency,
          traced: (await measureCell(withTraces, STREAMS)).latency,
        }),
      ];
      return { rows, notes: [`traced: ${String(collector.requests())} exports arrived`] };
    } finally {
      await product.stop();
      await collector.close();
    }
  },
};

async function compareGaps(bench: Bench): Promise<Row> {
  const rounds = bench.isQuick ? 1 : ROUNDS;
  const plain: number[] = [];
  const traced: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    bench.say(`traced: steps, round ${String(round)} of ${String(rounds)}`);
    plain.push(...(await readGaps(bench, TASK_QUEUE)));
    traced.push(...(await readGaps(bench, TRACED_QUEUE)));
  }
  return toRow('step gap with traces', { plain: summarize(plain), traced: summarize(traced) });
}

function toRow(what: string, { plain, traced }: { plain: Summary; traced: Summary }): Row {
  const beside = { what: 'without', value: plain };
  return { what, unit: 'ms', value: traced, beside, aim: { ratio: 1.05 } };
}

/** A step committed → the next one's first chunk, ms. */
async function readGaps(bench: Bench, taskQueue: string): Promise<number[]> {
  const countCharge = (): Promise<never> => Promise.reject(new Error('nothing is executed here'));
  const agent = createLabAgent({ countCharge, maxSteps: Infinity });
  const { log } = await performLongRun(bench, { agent, taskQueue, text: toEchoSteps(STEPS) });
  const gaps: number[] = [];
  let committedAt = NaN;
  for (const { message } of log) {
    if (message.type === 'step_committed') committedAt = message.timestamp;
    if (message.type === 'step_start' && message.step > WARM) {
      gaps.push(message.timestamp - committedAt);
    }
  }
  return gaps;
}

async function startCollector(): Promise<{
  url: string;
  requests: () => number;
  close: () => Promise<void>;
}> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    request.resume().once('end', () => response.end('{}'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    requests: () => requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
