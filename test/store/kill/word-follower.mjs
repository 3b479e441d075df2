// A viewer in its own process: follows a session to its end and sends every entry to its parent.
import { createRedisStores } from '../../../dist/store/redis/index.js';

const { url, sessionId } = JSON.parse(process.argv[2]);
const { streamManager, close } = createRedisStores({ url, whenAway: 'refuse' });
const controller = new AbortController();

process.once('disconnect', () => process.exit());

for await (const entries of streamManager.follow(sessionId, 0, controller.signal)) {
  for (const entry of entries) {
    process.send(entry);
    if (entry.message.type === 'stream_end') controller.abort();
  }
}
await close();
process.disconnect();
