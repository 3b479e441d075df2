import type { HealthReply } from '../../protocol/health.js';
import { newSessionId, useProduct } from '../support/product.js';
import { postMessage } from '../support/sse-reader.js';
import { until } from '../support/until.js';

const product = useProduct({});

async function health(): Promise<HealthReply> {
  const response = await fetch(`${product.url}/api/operator/health?period=600`);
  expect(response.status).toBe(200);
  return (await response.json()) as HealthReply;
}

it('a provider that fails is named, and so is a fleet without workers', async () => {
  await until('all is well', async () => (await health()).verdict === 'ok');
  const script = [{ say: 'ok', fail: { status: 500, times: 3 } }];
  const text = JSON.stringify({ script });
  await (
    await postMessage(product.url, newSessionId(), { id: 'u1', text })
  ).done;
  const failing = await until('the failures are counted', async () => {
    const reply = await health();
    return reply.execution.state === 'ok' ? undefined : reply;
  });
  expect(failing.execution.text).toContain('provider_error 3');
  expect(failing.next).toMatch(/provider/);
  expect(failing.flow.state).toBe('ok');

  await product.kill9Worker();
  const down = await until('the worker is missed', async () => {
    const reply = await health();
    return reply.flow.state === 'bad' ? reply : undefined;
  });
  expect(down.flow.text).toBe(`No worker takes runs from "${product.taskQueue}".`);
  expect(down.next).toMatch(/^Start a worker/);
}, 60_000);

it('periods are bounded', async () => {
  for (const period of ['0', '59', '100000', 'x']) {
    const { status } = await fetch(`${product.url}/api/operator/health?period=${period}`);
    expect(status).toBe(400);
  }
});
