import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLabAgent } from '../../examples/index.js';
import { TASK_QUEUE, type Bench, type Measurement } from '../bench.js';
import { toEchoSteps } from '../client/lab-script.js';
import { performLongRun } from '../client/long-run.js';
import { untilPolls } from '../processes/pollers.js';
import { startWorker } from '../processes/product.js';
import { summarize } from '../report/statistics.js';

const TRACED_QUEUE = 'bench-traced';
const STEPS = 150;
/** The first steps of a worker load what the others have. */
const WARM = 10;
const ROUNDS = 4;

/** The pause between two steps with traces exported, beside the same without, in turn. */
export const stepGapTraced: Measurement = {
  name: 'step-gap-traced',
  take: async (bench) => {
    const rounds = bench.isQuick ? 1 : ROUNDS;
    const collector = await startCollector();
    const worker = startWorker(bench.servers, TRACED_QUEUE, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_METRICS_EXPORTER: 'none',
    });
    try {
      await untilPolls(bench.temporal, TRACED_QUEUE, worker.pid);
      const plain: number[] = [];
      const traced: number[] = [];
      for (let round = 1; round <= rounds; round += 1) {
        bench.say(`step-gap-traced: round ${String(round)} of ${String(rounds)}`);
        plain.push(...(await readGaps(bench, TASK_QUEUE)));
        traced.push(...(await readGaps(bench, TRACED_QUEUE)));
      }
      return {
        rows: [
          {
            what: 'step gap with traces',
            unit: 'ms',
            value: summarize(traced),
            beside: { what: 'without', value: summarize(plain) },
            aim: { ratio: 1.05 },
          },
        ],
        notes: [`step-gap-traced: ${String(collector.requests())} exports arrived`],
      };
    } finally {
      await worker.stop();
      await collector.close();
    }
  },
};

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
