import type { Take } from '../bench.js';
import { createChatClient, newSessionId, toLabText } from '../client/chat-client.js';
import { sleep } from '../clock.js';
import { startProduct } from '../processes/product.js';
import { residentMegabytes } from '../processes/usage.js';
import { row } from '../report.js';

/** MB for 10,000 waiting runs. */
const AIMS = { worker: 600, api: 250 };
const AT_ONCE = 16;
/** Lets connections close and garbage be collected before memory is read. */
const SETTLE_MS = 3_000;

const TEXT = toLabText({ calls: [{ tool: 'charge', id: 'c1', args: { amount: 5 } }] });

/** Memory of fresh processes, and with many runs that wait for people. */
export const take: Take = async ({ quick, waiting, servers, say }) => {
  const count = quick ? 50 : waiting;
  const product = await startProduct(servers, 'bench-waiting');
  const chat = createChatClient(product.port);
  const readMemory = async () => {
    await sleep(SETTLE_MS);
    const { worker, api } = product;
    return { worker: residentMegabytes(worker.pid), api: residentMegabytes(api.pid) };
  };
  try {
    const before = await readMemory();
    let begun = 0;
    const beginRuns = async (): Promise<void> => {
      while (begun < count) {
        if (begun % 250 === 0) say(`waiting-memory: ${String(begun)} of ${String(count)} runs`);
        begun += 1;
        await chat.say(newSessionId(), TEXT);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, beginRuns));
    const after = await readMemory();
    return (['worker', 'api'] as const).map((name) =>
      row(`memory of ${name}, ${String(count)} waiting runs`, 'MB', after[name], {
        beside: ['before', before[name]],
        aim: { p50: AIMS[name] },
      }),
    );
  } finally {
    await product.stop();
  }
};
