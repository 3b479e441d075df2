// Makes replies and appends them to the streams' server.
import { DurableStream, IdempotentProducer } from '@durable-streams/client';
import { serveTurns } from './shared/server.mjs';
import { sayWords } from './shared/words.mjs';

const streams = `http://127.0.0.1:${process.env.STREAMS_PORT}`;

serveTurns({
  begin: async (id, turn) => {
    const url = `${streams}/turns/${id}`;
    const stream = await DurableStream.create({ url, contentType: 'text/plain' });
    // Sends each word as it comes; words that come during a request go together.
    const producer = new IdempotentProducer(stream, 'model', { autoClaim: true, lingerMs: 0 });
    appendAll(producer, turn).catch((error) => {
      console.error(error);
    });
    return undefined;
  },
});

async function appendAll(producer, turn) {
  for await (const word of sayWords(1, turn)) producer.append(`${word}\n`);
  await producer.close();
}
