import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createMemoryStores } from '../../../stores/memory/index.js';
import { createRedisStores } from '../../../stores/redis/index.js';
import { newSessionId } from '../../support/session-driver.js';
import { sharedRedisUrl } from '../../support/test-stores.js';
import { performEvent } from './same-as-redis/perform-event.js';
import { orCode, takePicture, withoutClock } from './same-as-redis/picture.js';
import { sensibleEvent } from './same-as-redis/sensible-event.js';
import { NextEvent, SessionEvent } from './same-as-redis/session-event.js';
import {
  createKnowledge,
  learn,
  type Knowledge,
  type Stores,
} from './same-as-redis/session-knowledge.js';

const options = { maxChunks: 20 };
const memory = createMemoryStores(options);
const redis = createRedisStores({
  url: sharedRedisUrl(),
  role: 'worker',
  prefix: 'same',
  ...options,
});

afterAll(() => redis.close());

/** A whole picture is taken after so many events, and after the last one. */
const PICTURE_EVERY = 5;

const Something = fc.oneof(
  { weight: 3, arbitrary: NextEvent },
  { weight: 2, arbitrary: SessionEvent },
);

/** Asks both, and expects one answer. */
async function compareAnswers(event: SessionEvent, known: Knowledge): Promise<void> {
  const perform = performEvent(event, known);
  const ask = async (stores: Stores): Promise<unknown> =>
    withoutClock(await orCode(perform(stores)));
  const result = await ask(memory);
  expect({ event, result }).toEqual({ event, result: await ask(redis) });
  learn(known, event, result);
  known.record = await memory.store.sessions.read(known.sessionId);
}

async function comparePictures({ sessionId, calls }: Knowledge): Promise<void> {
  const ids = calls.slice(-4).map(({ id }) => id);
  expect(await takePicture(memory, sessionId, ids)).toEqual(
    await takePicture(redis, sessionId, ids),
  );
}

describe('a session in memory', () => {
  it('is what it would be in Redis, whatever was done to it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(Something, { minLength: 10, maxLength: 80, size: 'max' }),
        async (events) => {
          const known = createKnowledge(newSessionId());
          for (const [at, something] of events.entries()) {
            const event =
              something.do === 'next'
                ? sensibleEvent(something, await memory.store.sessions.view(known.sessionId), known)
                : something;
            await compareAnswers(event, known);
            if (at % PICTURE_EVERY === 0) await comparePictures(known);
          }
          await comparePictures(known);
        },
      ),
      { numRuns: 100, interruptAfterTimeLimit: 90_000 },
    );
  }, 120_000);
});
