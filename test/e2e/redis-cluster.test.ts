import { CLIENT_7, openChat, toScript, untilAsked, untilRests } from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { newSessionId, startProduct, type Product } from '../support/product.js';
import { startCluster, type RedisCluster } from '../support/redis-cluster.js';

let cluster: RedisCluster;
let product: Product;
beforeAll(async () => {
  cluster = await startCluster();
  product = await startProduct({ env: { REDIS_URL: cluster.url } });
});
afterAll(async () => {
  await product.stop();
  await cluster.close();
});

it('conversations whose keys are on different nodes of a cluster are served', async () => {
  const { url } = product;
  const byNode = new Map<number, string>();
  while (byNode.size < cluster.nodes.length) {
    const sessionId = newSessionId();
    byNode.set(cluster.ownerOf(`hx:{${sessionId}}:root`), sessionId);
  }
  for (const sessionId of byNode.values()) {
    const client = openChat(CLIENT_7, { url, sessionId });
    const charge = { tool: 'charge', id: 'c1', args: { amount: 5 } };
    await client.chat.sendMessage(
      toScript({ say: 'May I?', deltas: 5, everyMs: 5, calls: [charge] }),
    );
    const id = await untilAsked(client);
    await client.chat.addToolApprovalResponse({ id, approved: true });
    await untilRests(client, url);
    expect(client.reply()).toBe('May I?done');
    await expectStoredAsShown(client, url, sessionId);
  }
});
