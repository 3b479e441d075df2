import { CLIENT_7, openChat, toScript, untilAsked, untilRests } from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { useLocalProduct } from '../support/local-product.js';
import { newSessionId } from '../support/product.js';
import { startCluster, type RedisCluster } from '../support/redis-cluster.js';
import { openStores } from '../support/test-stores.js';

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await startCluster();
}, 60_000);
afterAll(() => cluster.close());
const product = useLocalProduct({ openStores: () => openStores(cluster.url) });

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
}, 60_000);
