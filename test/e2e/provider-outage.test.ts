import { workflowIdOf } from '../../protocol/ids.js';
import { CLIENT_7, loadSnapshot, openChat, toScript, untilRests } from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { LAB_AGENTS } from '../support/lab-agents.js';
import { newSessionId, openTemporal, useProduct } from '../support/product.js';
import { postMessage, readSse } from '../support/sse-reader.js';
import { until } from '../support/until.js';

const product = useProduct();
const temporal = openTemporal();

/** An outage whose announced length exceeds the time that a worker holds a slot for it. */
const away = (retryAfterMs: number): object => ({ status: 529, retryAfterMs, times: 1 });

it.concurrent.each(LAB_AGENTS)('%s: an outage of the provider is sat out', async (agent) => {
  const { url } = product;
  const sessionId = newSessionId();
  const client = openChat(CLIENT_7, { url, sessionId, agent });
  const reply = client.chat.sendMessage(toScript({ say: 'Back again.', fail: away(6_000) }));
  const standing = await until('the run waits for its provider', async () => {
    const snapshot = await loadSnapshot(url, sessionId).catch(() => undefined);
    return snapshot?.run?.waitingFor === undefined ? undefined : snapshot;
  });
  expect(standing).toMatchObject({
    status: 'active',
    run: { status: 'running', waitingFor: 'provider' },
  });
  const status = await fetch(`${url}/api/agent/status?sessionId=${sessionId}`);
  expect(await status.json()).toMatchObject({ run: { waitingFor: 'provider' } });
  await reply;
  await untilRests(client, url);
  expect(client.errors).toEqual([]);
  expect(client.reply()).toBe('Back again.');
  await expectStoredAsShown(client, url, sessionId);
  const { run } = await loadSnapshot(url, sessionId);
  expect(run).toEqual({ runId: run?.runId, status: 'completed' });
});

it.concurrent(
  'a run that waits for its provider is visible to every viewer, and stops at once',
  async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const text = JSON.stringify({ script: [{ say: 'Never.', fail: away(300_000) }] });
    const posted = await postMessage(url, sessionId, { id: 'u1', text });
    const events = await readSse(`${url}/api/chat/${sessionId}/events`);
    const runIn = (part: object): unknown => ('run' in part ? part.run : undefined);
    await until('the event arrives', () =>
      events.parts.some((part) => JSON.stringify(runIn(part)).includes('"waitingFor":"provider"')),
    );
    const stop = await fetch(`${url}/api/chat/${sessionId}/stop`, { method: 'POST' });
    const { result, runId } = (await stop.json()) as { result: string; runId: string };
    expect(result).toBe('ended');
    expect(await posted.done).toBe('ended');
    const handle = temporal.workflow.getHandle(workflowIdOf(runId));
    expect(await handle.result()).toMatchObject({ status: 'interrupted' });
    const next = await postMessage(url, sessionId, { id: 'u2', text: 'hello' });
    expect(await next.done).toBe('ended');
    expect(next.text()).toContain('hello');
  },
);
