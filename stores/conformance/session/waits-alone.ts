import { equal, includes } from '../assertions.js';
import { newCall } from '../fixtures.js';
import type { Suite } from '../suite.js';
import { suspend } from './journal.js';

/** Tools that sleep beside questions to people: neither holds the other. */
export function waitsAloneCases({ describe, it }: Suite): void {
  describe('waits beside questions', () => {
    it('a timer that is over releases its call while people are asked, and asks them no more', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      const calls = [newCall('s', 'server'), newCall('a', 'approval'), newCall('b', 'approval')];
      await session.ask(runId, 1, calls);
      await session.start(runId, 1, 's', 1);
      await suspend(store, session, runId, 0, { wait: { kind: 'timer' }, dueInMs: 0 });
      equal('resume' in (await session.decide(runId, 'a', true)), false);
      const resume = { step: 1, approved: ['s'], partial: true };
      includes(await session.expire(runId, 's~0'), { kind: 'stored', resume });
      includes(await store.sessions.read(session.id), { status: 'running', stream: 'active' });
      // The batch of people is not complete.
      equal(await session.start(runId, 1, 'a'), { kind: 'refused' });
      includes(await session.start(runId, 1, 's', 2), { kind: 'execute' });
      const paused = await session.messages('run_paused');
      includes(await session.finishCall(runId, 1, 's', 'done', 2), { kind: 'stored' });
      includes(await store.sessions.read(session.id), {
        status: 'waiting_approval',
        stream: 'paused',
        resumeTaken: true,
      });
      equal((await session.messages('run_paused')).length, paused.length + 1);
      includes(await session.decide(runId, 'b', true), { resume: { approved: ['a', 'b'] } });
      // The run has taken the release before this one.
      includes(await store.sessions.read(session.id), { resumeTaken: false });
    });

    it('the last answer of people releases their calls while a timer runs', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server'), newCall('a', 'approval')]);
      await session.start(runId, 1, 's', 1);
      await suspend(store, session, runId, 0, { wait: { kind: 'timer' }, dueInMs: 60_000 });
      includes(await session.decide(runId, 'a', true), { resume: { step: 1, approved: ['a'] } });
      includes(await store.sessions.read(session.id), { status: 'running', stream: 'active' });
      includes(await session.start(runId, 1, 'a', 1), { kind: 'execute' });
      await session.finishCall(runId, 1, 'a', 'done', 1);
      includes(await store.sessions.read(session.id), { status: 'waiting_tool', stream: 'paused' });
      includes(await session.claim(session.writer(runId, 2, 1)), { kind: 'not_ready' });
    });

    it('answers that release nothing leave a run asleep, and are taken with its timer', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server'), newCall('c', 'client')]);
      await session.start(runId, 1, 's', 1);
      await suspend(store, session, runId, 0, { wait: { kind: 'timer' }, dueInMs: 0 });
      equal('resume' in (await session.answer(runId, 'c', { output: 1 })), false);
      includes(await store.sessions.read(session.id), { stream: 'paused' });
      const resume = { step: 1, approved: ['s'] };
      const over = await session.expire(runId, 's~0');
      includes(over, { kind: 'stored', resume });
      equal('resume' in over && 'partial' in (over.resume as object), false);
      await session.start(runId, 1, 's', 2);
      await session.finishCall(runId, 1, 's', 'done', 2);
      includes(await session.claim(session.writer(runId, 2, 1)), { kind: 'claimed' });
    });
  });
}
