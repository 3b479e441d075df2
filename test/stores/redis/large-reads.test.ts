import { closeStores, openStores } from '../../support/open-stores.js';
import { drive } from '../../support/session-driver.js';
import { startRedis } from '../../support/redis-server.js';
import { Redis } from 'ioredis';

afterEach(closeStores);

it('what may be large is read on another connection than the one that starts runs', async () => {
  const server = await startRedis();
  const looking = new Redis(server.url);
  const stores = await openStores(server.url);
  const session = drive(stores);
  await session.newRun();
  await stores.store.sessions.view(session.id);
  await stores.store.sessions.read(session.id);
  const clients = String(await looking.client('LIST')).split('\n');
  const last = clients.flatMap((line) => /\bcmd=(hgetall|exec)\b/.exec(line)?.[1] ?? []);
  expect(last.sort()).toEqual(['exec', 'hgetall']);
  looking.disconnect();
  await closeStores();
  await server.stop();
});
