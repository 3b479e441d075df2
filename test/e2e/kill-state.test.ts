import {
  callsOf,
  CLIENT_7,
  loadSnapshot,
  openChat,
  toScript,
  untilRests,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { LAB_AGENTS } from '../support/lab-agents.js';
import { newSessionId, useProduct } from '../support/product.js';
import { startTcpProxy } from '../support/tcp-proxy.js';

const product = useProduct();

const remember = (key: string): object => ({
  tool: 'remember',
  id: key,
  args: { key, value: `${key} remembered` },
});

it.each(LAB_AGENTS)(
  'of calls side by side of %s whose worker dies, those that were settled leave their changes',
  async (agent) => {
    const { url } = product;
    const proxy = await startTcpProxy(product.redisServer.port);
    await product.kill9Worker();
    await product.startWorker({ REDIS_URL: `redis://127.0.0.1:${String(proxy.port)}` });
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId, agent });
    // The first patch of the second call is stored; its result never is.
    const sprung = proxy.holdAt('"toolName":"remember","result":{"remembered":"lost"}', 'before');
    const reply = client.chat.sendMessage(
      toScript(
        { calls: [remember('first')] },
        { calls: [remember('kept'), remember('too')] },
        { calls: [remember('lost'), { tool: 'echo', id: 'e', args: { value: 1 } }] },
      ),
    );
    await sprung;
    await product.kill9Worker();
    await product.startWorker();
    await reply;
    await untilRests(client, url);
    await proxy.close();
    expect(client.reply()).toBe('done');
    expect(
      callsOf(client.chat.lastMessage).map(({ toolCallId, state }) => [toolCallId, state]),
    ).toEqual([
      ['first', 'output-available'],
      ['kept', 'output-available'],
      ['too', 'output-available'],
      ['lost', 'output-error'],
      ['e', expect.stringMatching(/^output/)],
    ]);
    const { state } = await loadSnapshot(url, sessionId);
    expect(state).toEqual({
      memory: {
        first: 'first remembered',
        kept: 'kept remembered',
        too: 'too remembered',
      },
    });
    await expectStoredAsShown(client, url, sessionId);
  },
);

it('progress is sent while the tool runs', async () => {
  const { url } = product;
  const client = openChat(CLIENT_7, { url, sessionId: newSessionId() });
  await client.chat.sendMessage(
    toScript({ calls: [{ tool: 'progress', id: 'p', args: { steps: 2 } }] }),
  );
  await untilRests(client, url);
  const parts = client.chat.lastMessage?.parts ?? [];
  expect(parts.filter(({ type }) => type === 'data-progress')).toMatchObject([
    { data: { step: 1, of: 2 } },
    { data: { step: 2, of: 2 } },
  ]);
});
