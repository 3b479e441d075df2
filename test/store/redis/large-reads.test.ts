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
  const last = async (): Promise<string[]> => {
    const clients = String(await looking.client('LIST')).split('\n');
    return clients.flatMap((line) => /\bcmd=(evalsha|eval|exec)\b/.exec(line)?.[1] ?? []).sort();
  };
  await session.newRun();
  await session.enqueue('next');
  expect(await last()).toEqual(['evalsha']);
  await stores.store.queue.read(session.id);
  expect(await last()).toEqual(['evalsha', 'evalsha']);
  await stores.store.sessions.view(session.id);
  expect(await last()).toEqual(['evalsha', 'exec']);
  looking.disconnect();
  await closeStores();
  await server.stop();
});
