import type { Bench, Measurement } from '../bench.js';
import { createChatClient, newSessionId } from '../client/chat-client.js';
import { toLabText } from '../client/lab-script.js';
import { sleep } from '../clock.js';
import { startProduct } from '../processes/product.js';
import { residentMegabytes } from '../processes/usage.js';
import type { Row } from '../report.js';

/** MB for 10,000 waiting runs. */
const AIMS = { worker: 600, api: 250 };
const AT_ONCE = 16;
/** Lets connections close and garbage be collected before memory is read. */
const SETTLE_MS = 3_000;

const TEXT = toLabText({ calls: [{ tool: 'charge', id: 'c1', args: { amount: 5 } }] });

/** Memory of fresh processes, and with many runs that wait for people. */
export const waitingMemory: Measurement = {
  name: 'waiting-memory',
  take: async (bench) => {
    const count = bench.isQuick ? 50 : bench.waiting;
    const product = await startProduct(bench.servers, 'bench-waiting');
    const chat = createChatClient(product.port);
    const pids = { worker: product.worker.pid, api: product.api.pid, floor: bench.floorWorker.pid };
    try {
      await sleep(SETTLE_MS);
      const before = readMemory(pids);
      await repeat(bench, 'waiting runs', count, () => chat.say(newSessionId(), TEXT));
      await repeat(bench, 'bare waiting workflows', count, () => bench.floor.startWaiting());
      await sleep(SETTLE_MS);
      const after = readMemory(pids);
      const rows = (['worker', 'api'] as const).map((name): Row => ({
        what: `memory of ${name}, ${String(count)} waiting runs`,
        unit: 'MB',
        aim: { p50: AIMS[name] },
        value: { p50: after[name] },
        beside: { what: 'before', value: { p50: before[name] } },
      }));
      rows.push({
        what: `  worker's growth`,
        unit: 'MB',
        value: { p50: after.worker - before.worker },
        beside: { what: 'bare worker', value: { p50: after.floor - before.floor } },
      });
      return { rows, notes: [] };
    } finally {
      chat.close();
      await product.stop();
    }
  },
};

function readMemory<K extends string>(pids: Record<K, number>): Record<K, number> {
  const entries = Object.entries<number>(pids);
  return Object.fromEntries(
    entries.map(([name, pid]) => [name, residentMegabytes(pid) ?? NaN]),
  ) as Record<K, number>;
}

/** Repeats the work, a few at once, and reports progress. */
async function repeat(
  bench: Bench,
  what: string,
  count: number,
  work: () => Promise<unknown>,
): Promise<void> {
  let begun = 0;
  const lane = async (): Promise<void> => {
    while (begun < count) {
      if (begun % 250 === 0)
        bench.say(`waiting-memory: ${String(begun)} of ${String(count)} ${what}`);
      begun += 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
