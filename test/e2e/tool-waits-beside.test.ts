import {
  callsOf,
  CLIENT_7,
  loadChat,
  loadSnapshot,
  openChat,
  toScript,
  untilAsked,
  untilRests,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { LAB_AGENTS } from '../support/lab-agents.js';
import { charge } from '../support/lab-calls.js';
import { newSessionId, useProduct } from '../support/product.js';
import { callHook, readExecutions, untilSent, waits } from '../support/tool-waits.js';
import { until } from '../support/until.js';

const product = useProduct();

describe('a tool that waits beside a question to people', () => {
  it.each(LAB_AGENTS)('of %s ends its wait while the question is open', async (agent) => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId, agent });
    const plan = [{ webhook: 'paid' }, { sleepMs: 300 }, { step: 'b' }];
    await client.chat.sendMessage(toScript({ calls: [waits(...plan), charge('r1')] }));
    const hook = await untilSent(client, product.url);
    expect(await callHook(hook, '{"value":1}')).toEqual([200, 'accepted']);
    await until('the end of the tool', async () => {
      const { status } = await loadSnapshot(url, sessionId);
      return (await readExecutions(product.redis, sessionId))['b'] === 1 && status === 'paused';
    });
    const id = await untilAsked(client, 'r1');
    await client.chat.addToolApprovalResponse({ id, approved: true });
    // The page has not seen the end of the tool, so its stock condition sends nothing.
    await client.chat.sendMessage();
    await untilRests(client, url);
    expect(client.errors).toEqual([]);
    expect(client.posts()).toBe(2);
    expect(client.reply()).toBe('done');
    const results = [{ value: 1 }, 'slept', 'b'];
    expect(callsOf(client.chat.lastMessage)).toMatchObject([
      { toolCallId: 'w1', output: { results } },
      { toolCallId: 'r1', state: 'output-available' },
    ]);
    await expectStoredAsShown(client, url, sessionId);
  });

  it('lets approved calls run meanwhile', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    const calls = [waits({ webhook: 'paid' }, { step: 'b' }), charge('r1')];
    await client.chat.sendMessage(toScript({ calls }));
    const hook = await untilSent(client, product.url);
    const id = await untilAsked(client, 'r1');
    await client.chat.addToolApprovalResponse({ id, approved: true });
    await client.chat.sendMessage();
    const charged = callsOf(client.chat.lastMessage).find(({ toolCallId }) => toolCallId === 'r1');
    expect(charged?.state).toBe('output-available');
    expect((await loadSnapshot(url, sessionId)).status).toBe('paused');
    await product.kill9Worker();
    expect(await callHook(hook, '{"value":1}')).toEqual([200, 'accepted']);
    await product.startWorker();
    await until('the end', async () => (await loadSnapshot(url, sessionId)).status === 'ended');
    const { client: page } = await loadChat(CLIENT_7, { url, sessionId });
    expect(callsOf(page.chat.lastMessage)).toMatchObject([
      { toolCallId: 'w1', output: { results: [{ value: 1 }, 'b'] } },
      { toolCallId: 'r1', state: 'output-available' },
    ]);
    expect(await readExecutions(product.redis, sessionId)).toMatchObject({ b: 1 });
  });
});
