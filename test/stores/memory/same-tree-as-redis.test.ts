import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createMemoryStores } from '../../../stores/memory/index.js';
import { createRedisStores } from '../../../stores/redis/index.js';
import { newSessionId } from '../../support/session-driver.js';
import { sharedRedisUrl } from '../../support/test-stores.js';
import { orCode, takePicture, withoutClock } from './same-as-redis/picture.js';
import type { Stores } from './same-as-redis/session-knowledge.js';
import { happen } from './same-tree/happen.js';
import { TreeEvent } from './same-tree/tree-event.js';
import type { Pair, World } from './same-tree/world.js';

const memory = createMemoryStores();
const redis = createRedisStores({ url: sharedRedisUrl(), role: 'worker', prefix: 'tree' });

afterAll(() => redis.close());

async function both(perform: (stores: Stores) => Promise<unknown>): Promise<unknown> {
  const result = withoutClock(await orCode(perform(memory)));
  expect(withoutClock(await orCode(perform(redis)))).toEqual(result);
  return result;
}

const pair: Pair = { memory, both };

async function comparePictures({ rootId, agents, calls }: World): Promise<void> {
  const ids = calls.slice(-6).map(({ id }) => id);
  const sessions = new Set([rootId, ...agents.slice(-5).map(({ sessionId }) => sessionId)]);
  for (const sessionId of sessions) {
    expect(await takePicture(memory, sessionId, ids)).toEqual(
      await takePicture(redis, sessionId, ids),
    );
  }
}

describe('a conversation with sub-agents in memory', () => {
  it('is what it would be in Redis, whatever was done to it', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        fc.array(TreeEvent, { minLength: 10, maxLength: 60, size: 'max' }),
        async (events) => {
          const world: World = { rootId: newSessionId(), n: 0, agents: [], calls: [] };
          await happen(world, { do: 'begin', of: 0 }, pair);
          for (const [at, what] of events.entries()) {
            await happen(world, what, pair);
            if (at % 5 === 0) await comparePictures(world);
            seen.add((await memory.store.sessions.read(world.rootId))?.status ?? '');
          }
          await comparePictures(world);
        },
      ),
      { numRuns: 60, interruptAfterTimeLimit: 60_000 },
    );
    // Otherwise it has compared little.
    expect([...seen].filter((status) => status.startsWith('waiting'))).not.toEqual([]);
  }, 120_000);
});
