// Uses its own connection to the given Redis and closes it. The process must then end on its own.
import { Redis } from 'ioredis';
import { RedisStateStore, RedisStreamManager } from '../../../dist/store/redis/index.js';

const [url] = process.argv.slice(2);
const redis = new Redis(url);
const store = new RedisStateStore(redis);
const streams = new RedisStreamManager(redis);
const writer = await streams.createWriter('used-and-left', 'a', 'tester');
await writer.close();
await store.sessions.erase('used-and-left');
await redis.quit();
