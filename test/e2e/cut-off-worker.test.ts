import {
  CLIENT_7,
  isBusy,
  loadChat,
  openChat,
  toScript,
  untilRests,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { startProcess } from '../support/process.js';
import { newSessionId, sharedTemporal, startProduct, type Product } from '../support/product.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

/** 10 s without an answer, 5 s until Temporal gives the attempt up, and a slow machine. */
const TAKEN_OVER_MS = 60_000;
const FIRST = 'What the worker says that is cut off. '.repeat(40);
const SECOND = 'What another worker says.';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(() => product.stop());

it(
  'a worker that cannot write does not report itself alive: another one takes its step over',
  async () => {
    const { url } = product;
    const wire = await startTcpProxy(Number(new URL(product.redisServer.url).port));
    await product.stopWorker();
    const cutOff = startProcess('worker', {
      REDIS_URL: `redis://127.0.0.1:${String(wire.port)}`,
      TEMPORAL_ADDRESS: sharedTemporal(),
      TASK_QUEUE: product.taskQueue,
    });
    try {
      await cutOff.says('worker runs');
      const sessionId = newSessionId();
      const client = openChat(CLIENT_7, { url, sessionId });
      const sent = client.chat.sendMessage(
        toScript({
          attempts: [
            { say: FIRST, deltas: 600, everyMs: 100 },
            { say: SECOND, deltas: 5, everyMs: 10 },
          ],
        }),
      );
      await until('the first worker speaks', () => client.reply().includes('What the worker'));
      await wire.holdAt('evalsha', 'before');
      await product.startWorker();

      // The page is cut off when what it shows was withdrawn, and comes back.
      await until('the step is taken over', () => !isBusy(client), TAKEN_OVER_MS);
      await sent;
      const { client: again, resumed } = await loadChat(CLIENT_7, { url, sessionId });
      await resumed;
      await untilRests(again, url);
      // What the first one still wants to write is refused when it can.
      wire.cut();
      await cutOff.stop();
      expect(again.reply()).toBe(SECOND);
      await expectStoredAsShown(again, url, sessionId);
    } finally {
      await cutOff.kill9();
      await wire.close();
    }
  },
  2 * TAKEN_OVER_MS,
);
