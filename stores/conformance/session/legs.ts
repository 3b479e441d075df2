import { equal, includes } from '../assertions.js';
import { newCall } from '../fixtures.js';
import type { Suite } from '../suite.js';
import { childAt, grow, heldCall } from '../tree.js';

const USAGE = { inputTokens: 7, outputTokens: 3, costMicroUsd: 2 };

export function legCases({ describe, it }: Suite): void {
  describe('legs', () => {
    it('each resume begins a leg, with what the run had used before', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      const first = session.writer(runId, 1, 1);
      await session.claim(first);
      equal((await store.sessions.read(session.id))?.leg, undefined);
      await session.commit(first, { calls: [newCall('a', 'approval')], usage: USAGE });
      equal((await store.sessions.read(session.id))?.leg, undefined);
      await session.decide(runId, 'a', false, { now: 1_000 });
      const second = { number: 2, at: 1_000, used: USAGE };
      includes(await store.sessions.read(session.id), { leg: second });
      await session.ask(runId, 2, [newCall('b', 'client')]);
      // As long as it waits, it is the leg that has asked.
      includes(await store.sessions.read(session.id), { leg: second });
      await session.answer(runId, 'b', { output: 1 });
      includes(await store.sessions.read(session.id), { leg: { number: 3, used: USAGE } });
    });

    it('an answer while siblings are running begins none', async ({ store, session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server'), newCall('a', 'approval')]);
      await session.start(runId, 1, 's');
      await session.decide(runId, 'a', true);
      equal((await store.sessions.read(session.id))?.leg, undefined);
    });

    it('another run begins with its first leg', async ({ store, session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'approval')]);
      await session.decide(runId, 'a', false);
      await session.end(runId, 'completed');
      await session.newRun();
      equal((await store.sessions.read(session.id))?.leg, undefined);
    });

    it('a sub-agent begins its legs with its conversation', async (setup) => {
      const { store } = setup;
      const tree = await grow(setup, 1, () => []);
      const { driver, ref } = childAt(tree, 0);
      await driver.ask(ref.runId, 1, [heldCall(ref.runId, 'a')]);
      await tree.root.decide(ref.runId, 'a', true, { now: 2_000 });
      for (const id of [tree.root.id, driver.id]) {
        includes(await store.sessions.read(id), { leg: { number: 2, at: 2_000 } });
      }
    });
  });
}
