import { Redis } from 'ioredis';
import { createChunkWriter } from '../../activities/chunk-writer.js';
import { endWithParent, startProcess } from '../../config/startup.js';
import { openStores, seedTurn, toDelta } from '../client/seed-turn.js';
import { wallClock } from '../clock.js';

/** About the size of a chunk's other fields in the product. */
const PADDING = 'x'.repeat(150);

/** Takes the stamps of one stream. */
interface Stamps {
  push: (stamp: string) => unknown;
  flush?: () => Promise<unknown>;
}

type OpenStream = (id: string) => Promise<Stamps>;

/**
 * Writes stamps at the pace of a model: `<redis url> <prefix of the streams> <streams> <stamps> <ms between
 * two> <turns bare>`, into turns as an activity does, or as bare XADDs. Sends `ready` when the streams exist,
 * begins at a message, and sends `done` when everything is stored.
 */
async function main(): Promise<void> {
  endWithParent(process);
  const [url = '', prefix = '', streams, stamps, everyMs, kind] = process.argv.slice(2);
  const open = await (kind === 'bare' ? connectBare(url) : connectTurns(url));
  const ids = Array.from({ length: Number(streams) }, (_, index) => `${prefix}${String(index)}`);
  const all = await Promise.all(ids.map(open));
  const begin = new Promise((resolve) => process.once('message', resolve));
  process.channel?.ref();
  process.send?.('ready');
  await begin;
  await Promise.all(all.map((each) => write(each, Number(stamps), Number(everyMs))));
  process.send?.('done');
}

async function connectTurns(url: string): Promise<OpenStream> {
  const redis = openStores(url);
  await redis.ping();
  const refuse = (): never => {
    throw new Error('an append was refused');
  };
  return async (id) => {
    const writer = await seedTurn(redis, id);
    const chunks = createChunkWriter(redis.streamManager, writer, refuse);
    return {
      push: (stamp) => {
        chunks.push([toDelta(writer, `${stamp} `)]);
      },
      flush: () => chunks.flush(),
    };
  };
}

async function connectBare(url: string): Promise<OpenStream> {
  const redis = new Redis(url);
  await redis.ping();
  return (key) =>
    Promise.resolve({ push: (stamp) => redis.xadd(key, '*', 't', stamp, 'x', PADDING) });
}

async function write({ push, flush }: Stamps, stamps: number, everyMs: number): Promise<void> {
  // Random starts keep the streams from ticking in step.
  await pause(Math.random() * 1000);
  const start = performance.now();
  for (let index = 0; index < stamps; index += 1) {
    await pause(Math.ceil(start + index * everyMs - performance.now()));
    await push(wallClock().toFixed(3));
  }
  await flush?.();
}

function pause(ms: number): Promise<void> | undefined {
  return ms <= 0 ? undefined : new Promise((resolve) => setTimeout(resolve, ms));
}

startProcess(main);
