// The web process makes the reply; Redis carries it to later readers.
import { Redis } from 'ioredis';
import { createResumableStreamContext } from 'resumable-stream/ioredis';
import { serveTurns, toFrame } from './shared/server.mjs';
import { sayWords } from './shared/words.mjs';

const streams = createResumableStreamContext({
  waitUntil: () => undefined,
  publisher: new Redis(process.env.REDIS_URL),
  subscriber: new Redis(process.env.REDIS_URL),
});

serveTurns({
  begin: (id, turn) =>
    streams.createNewResumableStream(id, () => ReadableStream.from(frames(turn))),
  attach: async (id, { chars }) => (await streams.resumeExistingStream(id, chars)) ?? undefined,
});

async function* frames(turn) {
  for await (const word of sayWords(1, turn)) yield toFrame(word);
}
