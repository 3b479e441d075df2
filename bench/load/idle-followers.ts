import { endWithParent, startProcess } from '../../config/startup.js';
import { createLeave } from '../clock.js';
import { openStores } from '../stores.js';

/**
 * Follows logs in which nothing happens: `<redis url> <prefix of the streams> <how many>`. Sends the
 * memory that it uses before and, on request, afterwards.
 */
async function main(): Promise<void> {
  endWithParent(process);
  const [url = '', prefix = '', count] = process.argv.slice(2);
  const redis = openStores(url);
  await redis.ping();
  process.send?.(readMemory());
  const leave = createLeave();
  for (let index = 0; index < Number(count); index += 1) {
    const entries = redis.streamManager.follow(`${prefix}${String(index)}`, 0, leave.signal);
    void entries[Symbol.asyncIterator]().next();
  }
  process.on('message', () => process.send?.(readMemory()));
  process.channel?.ref();
}

function readMemory(): { heap: number; resident: number } {
  global.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return { heap: heapUsed, resident: rss };
}

startProcess(main);
