import { equal, includes } from '../assertions.js';
import { newCall } from '../fixtures.js';
import type { Case, Suite } from '../suite.js';
import type { Store } from '../../contract/store.js';
import type { SessionDriver } from '../session-driver.js';
import { childAt, grow, heldCall, settleChild, type Tree } from '../tree.js';
import { suspend } from './journal.js';

/** Executes a call whose tool then sleeps, for no time. */
async function sleep(
  store: Store,
  session: SessionDriver,
  runId: string,
  toolCallId: string,
): Promise<void> {
  await session.start(runId, 1, toolCallId, 1);
  const wait = { toolCallId: `${toolCallId}~0`, toolName: 'nap', kind: 'timer' as const };
  const suspended = await store.calls.suspend({
    writer: session.callWriter(runId, 1, toolCallId, 1),
    ...{ toolCallId, at: 0, now: Date.now(), dueInMs: 0 },
    operation: { kind: 'suspend', name: 'nap' },
    wait: { ...wait, input: {}, of: toolCallId },
  });
  equal(suspended.kind, 'suspended');
}

/**
 * A conversation that people have answered, whose sub-agent asks, and in which a tool has slept.
 *
 * @param kind of what people have answered
 */
async function wakeWhileSubAgentAsks(setup: Case, kind: 'approval' | 'client'): Promise<Tree> {
  const { store } = setup;
  const own = (runId: string) => [heldCall(runId, 'own', kind), newCall('s', 'server')];
  const tree = await grow(setup, 1, own);
  const { root, runId } = tree;
  const { driver, ref } = childAt(tree, 0);
  await driver.ask(ref.runId, 1, [heldCall(ref.runId, 'x')]);
  await sleep(store, root, runId, 's');
  const answered =
    kind === 'approval'
      ? await root.decide(runId, 'own', true)
      : await root.answer(runId, 'own', { output: 1 });
  equal('resume' in answered, false);
  includes(await root.expire(runId, 's~0'), { resume: { approved: ['s'], partial: true } });
  await root.start(runId, 1, 's', 2);
  return tree;
}

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

    it('a release whose signal was lost is not taken with the one before it', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server'), newCall('a', 'approval')]);
      await sleep(store, session, runId, 's');
      includes(await session.expire(runId, 's~0'), { resume: { approved: ['s'], partial: true } });
      // The process that stores this answer is killed before it signals the run.
      includes(await session.decide(runId, 'a', true), { resume: { approved: ['s', 'a'] } });
      const resume = { step: 1, approved: ['s', 'a'] };
      // The worker of `s` is killed, too.
      await session.start(runId, 1, 's', 2);
      await session.start(runId, 1, 's', 3);
      includes(await store.sessions.read(session.id), { resume, resumeTaken: false });
      await session.finishCall(runId, 1, 's', 'done', 3);
      includes(await store.sessions.read(session.id), { resume, resumeTaken: false });
      await session.start(runId, 1, 'a', 1);
      includes(await store.sessions.read(session.id), { resume, resumeTaken: true });
      await session.finishCall(runId, 1, 'a', 'done', 1);
      includes(await session.claim(session.writer(runId, 2, 1)), { kind: 'claimed' });
      equal((await store.sessions.read(session.id))?.resume, undefined);
    });

    it('an answer that releases nothing more is not taken by what was released before it', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server'), newCall('a', 'approval')]);
      await sleep(store, session, runId, 's');
      await session.expire(runId, 's~0');
      const resume = { step: 1, approved: ['s'] };
      includes(await session.decide(runId, 'a', false), { resume });
      await session.start(runId, 1, 's', 2);
      await session.finishCall(runId, 1, 's', 'done', 2);
      includes(await store.sessions.read(session.id), { resume, resumeTaken: false });
    });

    it('of two waits that end together, a release that was lost is not taken with the other', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      const ids = ['s', 't', 'u'];
      await session.ask(runId, 1, [
        ...ids.map((id) => newCall(id, 'server')),
        newCall('a', 'approval'),
      ]);
      for (const id of ids) await sleep(store, session, runId, id);
      await session.expire(runId, 's~0');
      includes(await session.expire(runId, 't~0'), { resume: { approved: ['s', 't'] } });
      await session.start(runId, 1, 's', 2);
      includes(await store.sessions.read(session.id), { resumeTaken: false });
      // A signal names all that has not started: one that arrives stands for those before it.
      includes(await session.expire(runId, 'u~0'), { resume: { approved: ['t', 'u'] } });
      await session.start(runId, 1, 'u', 2);
      includes(await store.sessions.read(session.id), { resumeTaken: true });
      // A tool that sleeps again is released once more.
      await session.start(runId, 1, 't', 2);
      await session.finishCall(runId, 1, 't', 'done', 2);
      await session.finishCall(runId, 1, 'u', 'done', 2);
      await suspend(store, session, runId, 1, {
        token: 2,
        wait: { kind: 'timer' },
        dueInMs: 0,
      });
      includes(await session.expire(runId, 's~1'), { resume: { approved: ['s'] } });
      includes(await store.sessions.read(session.id), { resumeTaken: false });
      await session.start(runId, 1, 's', 3);
      includes(await store.sessions.read(session.id), { resumeTaken: true });
    });

    it('a sub-agent is woken until it has taken its newest release', async (setup) => {
      const { store } = setup;
      const tree = await grow(setup, 1, () => []);
      const { driver, ref } = childAt(tree, 0);
      const wakes = async () => (await store.sessions.read(tree.root.id))?.wakes;
      await driver.ask(ref.runId, 1, [newCall('s', 'server'), heldCall(ref.runId, 'a')]);
      await sleep(store, driver, ref.runId, 's');
      await driver.expire(ref.runId, 's~0');
      await tree.root.decide(ref.runId, 'a', true);
      await driver.start(ref.runId, 1, 's', 2);
      includes(await wakes(), [{ runId: ref.runId, resume: { approved: ['s', 'a'] } }]);
      await driver.start(ref.runId, 1, 'a', 1);
      equal(await wakes(), undefined);
    });

    it('a sub-agent that is lost while it alone asks lets what people approved continue', async (setup) => {
      const { store } = setup;
      const tree = await wakeWhileSubAgentAsks(setup, 'approval');
      const { root, runId } = tree;
      await childAt(tree, 0).driver.end(childAt(tree, 0).ref.runId, 'failed');
      includes(await settleChild(setup, root, runId, 'd1'), {
        kind: 'stored',
        resume: { step: 1, approved: ['own'] },
      });
      await root.finishCall(runId, 1, 's', 'done', 2);
      includes(await store.sessions.read(root.id), { status: 'running', resumeTaken: false });
      includes(await root.start(runId, 1, 'own', 1), { kind: 'execute' });
      await root.finishCall(runId, 1, 'own', 'done', 1);
      includes(await root.claim(root.writer(runId, 2, 1)), { kind: 'claimed' });
    });

    it('a sub-agent that is lost while it alone asks ends the batch of answers', async (setup) => {
      const { root, runId } = await wakeWhileSubAgentAsks(setup, 'client');
      const settled = await settleChild(setup, root, runId, 'd1');
      includes(settled, { kind: 'stored', resume: { step: 1, approved: [] } });
      await root.finishCall(runId, 1, 's', 'done', 2);
      includes(await root.claim(root.writer(runId, 2, 1)), { kind: 'claimed' });
    });

    it('a sub-agent that ends releases nothing where no people were asked, or others are', async (setup) => {
      const { store } = setup;
      const tree = await grow(setup, 2, (runId) => [heldCall(runId, 'own')]);
      const { root, runId } = tree;
      const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
      equal('resume' in (await settleChild(setup, root, runId, one.callId)), false);
      await two.driver.ask(two.ref.runId, 1, [heldCall(two.ref.runId, 'x')]);
      await root.decide(runId, 'own', true);
      includes(await store.sessions.read(root.id), { stream: 'paused' });
      equal(await root.start(runId, 1, 'own'), { kind: 'refused' });
    });
  });
}
