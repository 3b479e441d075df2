import { Redis } from 'ioredis';
import { endWithParent, startProcess } from '../../config/startup.js';
import { wallClock } from '../clock.js';

/** About what the product writes beside the stamp of each chunk. */
const PADDING = 'x'.repeat(150);

/**
 * Writes stamps into streams at the pace of a model, nothing else: `<redis url> <prefix> <streams>
 * <stamps> <ms between two>`.
 */
async function main(): Promise<void> {
  endWithParent(process);
  const [url = '', prefix = '', streams, stamps, everyMs] = process.argv.slice(2);
  const redis = new Redis(url);
  await redis.ping();
  const each = Array.from({ length: Number(streams) }, (_, index) =>
    write(redis, `${prefix}${String(index)}`, Number(stamps), Number(everyMs)),
  );
  await Promise.all(each);
  redis.disconnect();
  process.exit(0);
}

async function write(redis: Redis, key: string, stamps: number, everyMs: number): Promise<void> {
  await pause(Math.random() * 1000);
  const start = performance.now();
  for (let index = 0; index < stamps; index += 1) {
    await pause(Math.ceil(start + index * everyMs - performance.now()));
    await redis.xadd(key, '*', 't', wallClock().toFixed(3), 'x', PADDING);
  }
}

function pause(ms: number): Promise<void> | undefined {
  return ms <= 0 ? undefined : new Promise((resolve) => setTimeout(resolve, ms));
}

startProcess(main);
