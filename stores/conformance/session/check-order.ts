import { equal, includes } from '../assertions.js';
import { newCall, textIn } from '../fixtures.js';
import type { Suite } from '../suite.js';

/**
 * Checks the order: already done (first result), stop record, fence, expected state; each pair of
 * neighbours.
 */
export function checkOrderCases({ describe, it }: Suite): void {
  describe('order of checks', () => {
    it('a claim checks a committed step before a stop', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      await session.start(runId, 1, 's');
      await session.finishCall(runId, 1, 's', 1);
      await session.claim(session.writer(runId, 2, 1));
      await session.stop();
      includes(await session.claim(session.writer(runId, 1, 9)), { kind: 'done' });
    });

    it('a claim checks a committed step before the end of the run, with the newest outcome', async ({
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      const outcome = {
        kind: 'calls',
        step: 1,
        calls: [{ toolCallId: 's', toolName: 'server-tool', kind: 'server' }],
      };
      equal(await session.claim(session.writer(runId, 1, 9)), { kind: 'done', outcome });
      await session.start(runId, 1, 's');
      await session.finishCall(runId, 1, 's', 1);
      await session.ask(runId, 2, []);
      equal(await session.claim(session.writer(runId, 1, 10)), {
        kind: 'done',
        outcome: { kind: 'ended', step: 2, status: 'completed' },
      });
    });

    it('a claim checks a committed step before a store that is behind', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      includes(await session.claim(session.writer(runId, 1, 9), 999), { kind: 'done' });
    });

    it('a claim checks a stop before the fence', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.claim(session.writer(runId, 1, 5));
      await session.stop({ mode: 'abort', reason: 'enough' });
      const stopped = { kind: 'stopped', stop: { mode: 'abort', reason: 'enough' } };
      equal(await session.claim(session.writer(runId, 1, 4)), stopped);
      equal(await session.claim(session.writer(runId, 1, 6)), stopped);
    });

    it('a claim checks a missing step before waiting calls', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'approval')]);
      equal(await session.claim(session.writer(runId, 3, 1)), { kind: 'rewound' });
    });

    it('a claim checks a store that is behind before an unknown run', async ({ session }) => {
      const { runId } = await session.newRun();
      equal(await session.claim(session.writer(runId, 1, 1), 5), { kind: 'rewound' });
      equal(await session.claim(session.writer(`${session.id}:7-x`, 1, 1)), { kind: 'rewound' });
      equal(await session.claim(session.writer(`${session.id}:1-other`, 1, 1)), {
        kind: 'superseded',
      });
    });

    it('a commit checks a committed step before a stop, a fence and a store that is behind', async ({
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      await session.start(runId, 1, 's');
      await session.finishCall(runId, 1, 's', 1);
      await session.claim(session.writer(runId, 2, 1));
      await session.stop();
      includes(await session.commit(session.writer(runId, 1, 1)), { kind: 'done' });
      includes(await session.commit(session.writer(runId, 1, 0), { known: 999 }), { kind: 'done' });
    });

    it('a commit checks a stop before the fence', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.claim(session.writer(runId, 1, 5));
      await session.stop();
      includes(await session.commit(session.writer(runId, 1, 4)), { kind: 'stopped' });
    });

    it('append: a stored batch comes before everything but the fence', async ({ session }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      const first = await session.say(writer, 1, 'x');
      equal(await session.say(writer, 1, 'x', 999), first);
      await session.claim(session.writer(runId, 1, 2));
      equal(await session.say(writer, 1, 'x'), { kind: 'fenced' });
      equal(textIn(await session.log()), '');
    });

    it('the start of a call checks a result before the end of the run, and a stop before the fence', async ({
      session,
    }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await session.stop();
      const calls = [newCall('s', 'server', { idempotent: true }), newCall('t', 'server')];
      await session.commit(writer, { calls, answersStop: true });
      equal(await session.start(runId, 1, 's'), { kind: 'stopped' });
      await session.end(runId, 'interrupted');
      equal(await session.start(runId, 1, 's'), { kind: 'settled' });
      await session.newRun();
      equal(await session.start(runId, 1, 's'), { kind: 'settled' });
      equal(await session.start(runId, 1, 'other'), { kind: 'superseded' });
    });

    it('settling checks a settled call before the run, and the run before the kind', async ({
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'approval'), newCall('c', 'client')]);
      await session.decide(runId, 'a', true);
      const otherRun = `${session.id}:9-x`;
      equal(await session.decide(otherRun, 'c', true), { kind: 'stale_run' });
      equal(await session.decide(otherRun, 'nothing', true), { kind: 'not_pending' });
      await session.answer(runId, 'c', { output: 1 });
      equal(await session.answer(otherRun, 'c', { output: 2 }), { kind: 'already_completed' });
    });

    it('discard: a counted failure comes before the fence and the end', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      const [old, young] = [session.writer(runId, 1, 1), session.writer(runId, 1, 2)];
      await session.claim(old);
      const discard = { failure: 1, reason: 'x', now: 1 };
      await store.steps.discard({ ...discard, writer: old });
      await session.claim(young);
      equal(await store.steps.discard({ ...discard, writer: old }), {
        kind: 'discarded',
        failures: 1,
      });
    });

    it('an end checks another run before this one, and this one before its state', async ({
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.end(runId, 'completed');
      equal(await session.end(runId, 'failed'), { kind: 'ended', status: 'completed' });
      const next = await session.newRun();
      equal(await session.end(runId, 'failed'), { kind: 'superseded' });
      await session.end(next.runId, 'completed');
      equal(await session.end(runId, 'failed'), { kind: 'superseded' });
    });
  });
}
