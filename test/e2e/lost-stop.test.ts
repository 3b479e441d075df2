import { openHistories, type Histories } from '../support/history-of.js';
import { LAB_AGENTS } from '../support/lab-agents.js';
import { printFigure } from '../support/print-figure.js';
import { newSessionId, useProduct } from '../support/product.js';
import { postMessage } from '../support/sse-reader.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { storedRecord } from '../support/stored-record.js';

/** Far longer than a stop takes; without one the model is silent for that long. */
const SILENT_MS = 120_000;

const product = useProduct();
let wire: TcpProxy;
let histories: Histories;
beforeAll(async () => {
  histories = openHistories(product.redis);
  await product.kill9Worker();
  wire = await startTcpProxy(product.redisServer.port);
  await product.startWorker({ REDIS_URL: `redis://127.0.0.1:${String(wire.port)}` });
});
afterAll(async () => {
  await histories.close();
  await wire.close();
});

it.each(LAB_AGENTS)(
  'a stop whose message is lost on its way reaches a silent model of %s with the next renewal',
  async (agent) => {
    const sessionId = newSessionId();
    const script = [{ say: 'Now I think.' }, { say: 'never spoken', hangMs: SILENT_MS }];
    // A step before: the channel is subscribed, so that nothing is looked up beside it.
    const [first, ...rest] = script;
    const calls = [{ tool: 'echo', id: 'e1', args: { value: 1 } }];
    const text = JSON.stringify({ script: [{ ...first, calls }, ...rest] });
    const reader = await postMessage(product.url, sessionId, { id: 'u1', text }, {}, agent);
    await until('the second step has begun', async () => {
      return (await storedRecord(product.redis, sessionId))?.run.claimed === 2;
    });
    const lostBefore = wire.lost();
    wire.loseMessages(/[^\r]*:stop/);
    const stoppedAt = performance.now();
    const stop = await fetch(`${product.url}/api/chat/${sessionId}/stop`, { method: 'POST' });
    expect(stop.status).toBe(202);
    // The attempt itself ends: nothing else would tell the model.
    await until('its activity has ended', async () => {
      const events = await histories.of(sessionId);
      const scheduled = events.filter((event) => event.activityTaskScheduledEventAttributes).length;
      const ended = events.filter((event) => event.activityTaskCompletedEventAttributes).length;
      return scheduled > 0 && scheduled === ended;
    });
    const ms = Math.round(performance.now() - stoppedAt);
    printFigure(`A stop whose message is lost: ${String(ms)} ms to the end of the activity.`);
    expect(wire.lost()).toBeGreaterThan(lostBefore);
    await until('the run is stopped', async () => {
      return (await storedRecord(product.redis, sessionId))?.run.status === 'interrupted';
    });
    await reader.done;
  },
  60_000,
);
