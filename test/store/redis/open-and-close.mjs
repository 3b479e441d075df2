// Opens stores on the given Redis and closes them, many times. The process must then end itself.
import { createRedisStores } from '../../../dist/store/redis/index.js';

const [url] = process.argv.slice(2);
for (let times = 0; times < 40; times += 1) {
  const stores = createRedisStores({ url, whenAway: 'wait' });
  for (let turn = 0; turn < times; turn += 1) await new Promise(setImmediate);
  await stores.close();
}
for (let times = 0; times < 20; times += 1) {
  const stores = createRedisStores({ url, whenAway: 'wait' });
  await stores.ping();
  await stores.close();
}
