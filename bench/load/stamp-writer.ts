import { createChunkWriter } from '../../activities/chunk-writer.js';
import { endWithParent, startProcess } from '../../config/startup.js';
import { openStores } from '../stores.js';
import type { StreamManager } from '../../store/log/stream-manager.js';
import type { Writer } from '../../store/contract/log.js';
import { seedTurn, toDelta } from '../client/seed-turn.js';
import { wallClock } from '../clock.js';

/**
 * Writes stamps into turns at the pace of a model, as an activity does: `<redis url> <prefix of the
 * sessions> <streams> <stamps> <ms between two>`. Says `ready` when the turns are there, begins when
 * it gets a message, says `done` when all is stored.
 */
async function main(): Promise<void> {
  endWithParent(process);
  const [url = '', prefix = '', streams, stamps, everyMs] = process.argv.slice(2);
  const redis = openStores(url);
  await redis.ping();
  const ids = Array.from({ length: Number(streams) }, (_, index) => `${prefix}${String(index)}`);
  const writers = await Promise.all(ids.map((id) => seedTurn(redis, id)));
  const begin = new Promise((resolve) => process.once('message', resolve));
  process.channel?.ref();
  process.send?.('ready');
  await begin;
  await Promise.all(
    writers.map((writer) => write(redis.streamManager, writer, Number(stamps), Number(everyMs))),
  );
  process.send?.('done');
}

async function write(
  streamManager: StreamManager,
  writer: Writer,
  stamps: number,
  everyMs: number,
): Promise<void> {
  const refuse = (): never => {
    throw new Error('an append was refused');
  };
  const chunks = createChunkWriter(streamManager, writer, refuse);
  // The streams share no beat.
  await pause(Math.random() * 1000);
  const start = performance.now();
  for (let index = 0; index < stamps; index += 1) {
    await pause(Math.ceil(start + index * everyMs - performance.now()));
    chunks.push([toDelta(writer, `${wallClock().toFixed(3)} `)]);
  }
  await chunks.flush();
}

function pause(ms: number): Promise<void> | undefined {
  return ms <= 0 ? undefined : new Promise((resolve) => setTimeout(resolve, ms));
}

startProcess(main);
