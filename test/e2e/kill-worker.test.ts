import type { Redis } from 'ioredis';
import {
  callsOf,
  CLIENT_7,
  CLIENTS,
  loadChat,
  loadSnapshot,
  openChat,
  toScript,
  untilAsked,
  untilRests,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { LAB_AGENTS } from '../support/lab-agents.js';
import { newSessionId, useProduct } from '../support/product.js';
import { postMessage, readSse } from '../support/sse-reader.js';
import { until } from '../support/until.js';
import { storedCall } from '../support/stored-record.js';

const FIRST = 'The first attempt says this and dies in the middle of it. '.repeat(10);
const SECOND = 'What the second attempt says is something else.';
/** Says one thing when it is asked first, and another when it is asked again. */
const changesItsMind = {
  say: SECOND,
  deltas: 10,
  everyMs: 10,
  attempts: [{ say: FIRST, deltas: 300, everyMs: 40 }, {}],
};
const charge = { tool: 'charge', id: 'c1', args: { amount: 5 } };

const product = useProduct();
let isUp = true;
beforeEach(async () => {
  if (!isUp) await product.startWorker();
  isUp = true;
});

async function killWorker(): Promise<void> {
  await product.kill9Worker();
  isUp = false;
}

async function startWorker(): Promise<void> {
  await product.startWorker();
  isUp = true;
}

/** The same conversation with both agents, side by side. */
function openAll(...script: object[]) {
  return LAB_AGENTS.map((agent) => {
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url: product.url, sessionId, agent });
    return { agent, sessionId, client, reply: client.chat.sendMessage(toScript(...script)) };
  });
}

describe('kill -9 of the worker', () => {
  it('a reply whose worker is killed has the text of the second attempt only', async () => {
    const { url } = product;
    const clients = CLIENTS.flatMap(([, library]) =>
      LAB_AGENTS.map((agent) => ({ library, agent })),
    );
    const pages = clients.map(({ library, agent }) => {
      const sessionId = newSessionId();
      const client = openChat(library, { url, sessionId, agent });
      const reply = client.chat.sendMessage(
        toScript(
          { say: 'Step one.', calls: [{ tool: 'echo', id: 'c1', args: { value: 1 } }] },
          changesItsMind,
        ),
      );
      return { library, agent, sessionId, client, reply };
    });
    const [sessionId = ''] = pages.map((page) => page.sessionId);
    await until('all see the first attempt', () =>
      pages.every(({ client }) => client.reply().includes('The first attempt')),
    );
    const stream = `${url}/api/chat/${sessionId}/stream`;
    const common = await readSse(stream);
    const newer = await readSse(stream, { headers: { 'x-ai-sdk-profile': 'v7' } });
    await until('viewers see it as well', () =>
      [common, newer].every((reader) => reader.text().includes('The first attempt')),
    );

    await killWorker();
    await startWorker();

    // A client that supports it is asked to drop the attempt; any other is told that it breaks off, and reconnects.
    expect(await newer.done).toBe('ended');
    expect(newer.parts.map(({ type }) => type)).toContain('reset-step');
    expect(newer.text()).toBe(`Step one.${SECOND}`);
    expect(await common.done).toBe('broken off');
    expect(common.text()).not.toContain(SECOND);
    for (const { library, agent, sessionId, client, reply } of pages) {
      await reply;
      expect(client.chat.status).toBe('error');
      const { client: again, resumed } = await loadChat(library, { url, sessionId, agent });
      await resumed;
      await untilRests(again, url);
      expect(again.errors).toEqual([]);
      expect(again.reply()).toBe(`Step one.${SECOND}`);
      await expectStoredAsShown(again, url, sessionId);
      // Nor does the model see the text of the dead attempt.
      await again.chat.sendMessage(toScript({ quote: true }));
      expect(again.reply()).toContain(`{"role":"assistant","text":"${SECOND}"}`);
    }
  });

  it('an approval can be answered while no worker runs', async () => {
    const { url, redis } = product;
    const all = openAll({ say: 'May I?', calls: [charge] });
    const ids = await Promise.all(all.map(({ client }) => untilAsked(client)));
    await killWorker();
    for (const [index, { client, sessionId }] of all.entries()) {
      await client.chat.addToolApprovalResponse({ id: ids[index] ?? '', approved: true });
      await until('the answer is stored', async () => {
        const { messages } = await loadSnapshot(url, sessionId);
        return !JSON.stringify(messages).includes('approval-requested');
      });
      expect(callsOf(client.chat.lastMessage)).toMatchObject([{ state: 'approval-responded' }]);
    }
    await startWorker();
    for (const { client, sessionId } of all) {
      await untilRests(client, url);
      expect(client.reply()).toBe('May I?done');
      expect(client.posts()).toBe(2);
      expect(await chargesOf(redis, sessionId)).toEqual(['1']);
      await expectStoredAsShown(client, url, sessionId);
    }
  });

  it('an approval reaches the successor of the killed worker', async () => {
    const { url, redis } = product;
    const all = openAll({ say: 'May I?', calls: [charge] });
    for (const { client } of all) await untilAsked(client);
    await killWorker();
    await startWorker();
    for (const { agent, sessionId } of all) {
      const { client: again, resumed } = await loadChat(CLIENT_7, { url, sessionId, agent });
      await resumed;
      const id = await untilAsked(again);
      await again.chat.addToolApprovalResponse({ id, approved: true });
      await untilRests(again, url);
      expect(again.reply()).toBe('May I?done');
      expect(await chargesOf(redis, sessionId)).toEqual(['1']);
      await expectStoredAsShown(again, url, sessionId);
    }
  });

  it('a tool whose worker is killed is not repeated, its outcome is unknown', async () => {
    const { url } = product;
    const sleep = { tool: 'sleep', id: 'c1', args: { ms: 300_000 } };
    const all = openAll({ calls: [sleep] }, { say: 'Awake.' });
    for (const { sessionId } of all) {
      await until('the tool has started', async () => {
        return (await storedCall(product.redis, sessionId, 'c1'))?.state === 'started';
      });
    }
    await killWorker();
    await startWorker();
    for (const { client, sessionId, reply } of all) {
      await reply;
      await untilRests(client, url);
      expect(client.reply()).toBe('Awake.');
      expect(callsOf(client.chat.lastMessage)).toMatchObject([
        { state: 'output-error', errorText: expect.stringContaining('not known') },
      ]);
      const rows = await product.redis.lrange(`hx:{${sessionId}}:rows`, 0, -1);
      expect(rows.join('\n')).toContain('"errorCode":"tool_outcome_unknown"');
      await expectStoredAsShown(client, url, sessionId);
    }
  });

  it('a message whose worker is killed before it begins is answered by the next one', async () => {
    const { url } = product;
    await killWorker();
    const sessionId = newSessionId();
    const text = toScript({ say: 'Here I am.' }).text;
    const reader = await postMessage(url, sessionId, { id: 'u1', text });
    await reader.gets('start');
    await startWorker();
    expect(await reader.done).toBe('ended');
    expect(reader.text()).toBe('Here I am.');
  });
});

async function chargesOf(redis: Redis, sessionId: string): Promise<string[]> {
  const all = await redis.hgetall('lab:charges');
  return Object.entries(all).flatMap(([key, n]) => (key.startsWith(`${sessionId}:`) ? [n] : []));
}
