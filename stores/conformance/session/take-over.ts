import { equal, includes } from '../assertions.js';
import { textIn } from '../fixtures.js';
import type { Suite } from '../suite.js';

export function takeOverCases({ describe, it }: Suite): void {
  describe('take over', () => {
    it('the writer is fenced off, its entries stay, and another one commits in its place', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      const silent = session.writer(runId, 1, 5);
      await session.claim(silent);
      await session.say(silent, 1, 'Last words');
      const input = { sessionId: session.id, runId, name: silent.name };
      equal(await store.steps.takeOver(input), { kind: 'taken', token: 6, first: 0 });
      equal(await session.say(silent, 2, ' and more'), { kind: 'fenced' });
      equal(await session.commit(silent), { kind: 'fenced' });
      includes(await session.commit({ ...silent, token: 6 }), { kind: 'committed' });
      equal(textIn(await session.log()), 'Last words');
      equal(await store.steps.takeOver(input), { kind: 'superseded' });
    });

    it('the reply says where the fenced attempt begins', async ({ store, session }) => {
      const { runId } = await session.newRun();
      const lost = session.writer(runId, 1, 1);
      await session.claim(lost);
      await session.say(lost, 1, 'lost');
      const { name } = lost;
      const silent = { ...lost, token: 2 };
      await session.claim(silent);
      const before = (await store.sessions.read(session.id))?.sequence;
      await session.say(silent, 1, 'partial');
      const taken = await store.steps.takeOver({ sessionId: session.id, runId, name });
      equal(taken, { kind: 'taken', token: 3, first: before });
    });

    it('the next attempt withdraws what the writer wrote', async ({ store, session }) => {
      const { runId } = await session.newRun();
      const silent = session.writer(runId, 1, 5);
      await session.claim(silent);
      await session.say(silent, 1, 'gone');
      await store.steps.takeOver({ sessionId: session.id, runId, name: silent.name });
      includes(await session.claim(session.writer(runId, 1, 7)), { kind: 'claimed' });
      equal(textIn(await session.log()), '');
      equal((await session.messages('stream_resync')).length, 1);
    });

    it('nothing is taken over without a writer, and other runs are left alone', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      const input = { sessionId: session.id, runId, name: 'm1' };
      equal(await store.steps.takeOver(input), { kind: 'nothing' });
      await session.claim(session.writer(runId, 1, 1));
      equal(await store.steps.takeOver({ ...input, runId: 'another' }), { kind: 'superseded' });
      equal(await store.steps.takeOver({ ...input, sessionId: 'unknown' }), { kind: 'superseded' });
      includes(await session.say(session.writer(runId, 1, 1), 1, 'on'), { kind: 'appended' });
    });
  });
}
