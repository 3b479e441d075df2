import type { Bench, Measurement } from '../bench.js';
import { createChatClient } from '../client/chat-client.js';
import { sleep } from '../clock.js';
import { pidOf, untilPolls } from '../processes/pollers.js';
import { startProduct, startWorker } from '../processes/product.js';
import type { Row } from '../report/row.js';
import { summarize } from '../report/statistics.js';
import { timeAnswer } from './answer-latency.js';
import { runOf } from './run-of.js';

const SAMPLES = 6;
/** A person answers some time after the worker died. */
const AFTER_KILL_MS = 2_000;
const AIM_MS = 1_000;
const RESTS_WITHIN_MS = 10_000;

const QUESTION = {
  call: { tool: 'locate', id: 'c1', args: {} },
  answer: { result: { place: 'here' } },
};

/**
 * An answer to a run whose worker, which had it in its memory, was killed with `kill -9` before: until the next
 * step's first chunk, with another worker at hand. Beside the same answer while both workers live.
 */
export const answerAfterKill: Measurement = {
  name: 'answer-after-kill',
  take: async (bench) => {
    const queue = 'bench-cached';
    const product = await startProduct(bench.servers, queue);
    const chat = createChatClient(product.port);
    const workers = [product.worker, startWorker(bench.servers, queue)];
    const lively: number[] = [];
    const killed: number[] = [];
    try {
      while (killed.length < (bench.isQuick ? 1 : SAMPLES)) {
        bench.say(`answer-after-kill: ${String(killed.length + 1)}`);
        for (const { pid } of workers) await untilPolls(bench.temporal, queue, pid);
        lively.push(await timeAnswer({ chat, port: product.port }, QUESTION));
        killed.push(
          await timeAnswer({ chat, port: product.port }, QUESTION, async (sessionId) => {
            const pid = await cachedBy(bench, sessionId);
            process.kill(pid, 'SIGKILL');
            workers[workers.findIndex((worker) => worker.pid === pid)] = startWorker(
              bench.servers,
              queue,
            );
            await sleep(AFTER_KILL_MS);
          }),
        );
      }
    } finally {
      chat.close();
      await Promise.all([product.api.stop(), ...workers.map(({ stop }) => stop())]);
    }
    const row: Row = {
      what: "answer after its worker was killed → next step's first chunk",
      unit: 'ms',
      value: summarize(killed),
      beside: { what: 'both workers live', value: summarize(lively) },
      aim: { p50: AIM_MS },
    };
    return { rows: [row], notes: [] };
  },
};

/**
 * Process id of the worker that has the session's run in its memory: the one that had its last task. The
 * reply's reader is ahead of that task: a worker that dies in it leaves the task to its time-out.
 */
async function cachedBy(bench: Bench, sessionId: string): Promise<number> {
  const run = await runOf(bench, sessionId);
  const giveUpAt = Date.now() + RESTS_WITHIN_MS;
  while (Date.now() < giveUpAt) {
    const { events } = await run.fetchHistory();
    const last = events?.findLast(
      ({ upsertWorkflowSearchAttributesEventAttributes: status }) => status == null,
    );
    const rested = last?.workflowTaskCompletedEventAttributes?.identity;
    if (typeof rested === 'string') return pidOf(rested);
    await sleep(20);
  }
  throw new Error('the run does not rest');
}
