import { ok } from 'node:assert/strict';
import { equal, eventually, includes, refuses } from '../assertions.js';
import { approval, client, userMessage } from '../fixtures.js';
import { drive } from '../session-driver.js';
import type { Suite } from '../suite.js';

export function runCases({ describe, it }: Suite): void {
  describe('begin', () => {
    it('the first message creates the session, its run and the id of the reply', async (setup) => {
      const { session } = setup;
      includes(await session.begin({ tenant: 'acme', nonce: 'abc' }), {
        kind: 'begun',
        run: { runId: `${session.id}:1-abc`, turn: 1, messageId: 'msg-1', startSequence: 0 },
      });
      includes(await session.record(), {
        agent: 'tester',
        owner: 'ann',
        tenant: 'acme',
        status: 'starting',
        stream: 'active',
      });
      equal(await session.rows(), [userMessage('u1').row]);
    });

    it('a message is accepted once, while its run is active and after it has ended', async (setup) => {
      const { session } = setup;
      const run = await session.newRun('u1');
      equal(await session.begin(), { kind: 'accepted' });
      const writer = session.writer(run.runId, 1, 1);
      await session.claim(writer);
      await session.commit(writer);
      equal(await session.begin(), { kind: 'accepted' });
      equal((await session.rows()).length, 2);
      equal(await session.accepted(['u1', 'u2']), ['u1']);
    });
  });

  describe('a listener of changes', () => {
    it('is told what each change has done, before the reply, and by no other', async (setup) => {
      const { store, session } = setup;
      const told: [sessionId: string, ...kinds: string[]][] = [];
      const listening = store.listening((id, events) =>
        told.push([id, ...events.map(({ kind }) => kind)]),
      );
      const runs = { ...store.runs, ...listening.runs };
      const heard = drive({ ...setup, store: { ...store, runs } }, session.id);
      const { runId } = await session.newRun();
      equal([await heard.begin(), told], [{ kind: 'accepted' }, []]);
      includes(await heard.end(runId, 'failed'), { kind: 'ended' });
      const [[id, ...kinds] = [], ...others] = told;
      equal([id, kinds.includes('run_ended'), others], [session.id, true, []]);
      includes(await heard.end(runId, 'failed'), { kind: 'ended' });
      equal(told.flat().filter((kind) => kind === 'run_ended').length, 1);
      await session.newRun('u2');
      equal(told.flat().filter((kind) => kind === 'run_ended').length, 1);
      equal(Object.keys(listening).sort(), ['calls', 'queue', 'runs', 'sessions', 'steps']);
    });
  });

  describe('a deadline', () => {
    it("the store's clock decides, whatever the caller's clock shows", async ({ session }) => {
      const { runId } = await session.asked(client('c', { deadlineMs: 60_000 }));
      const ahead = Date.now() + 1_000_000_000;
      const early = await session.expire(runId, 'c', ahead);
      includes(early, { kind: 'not_due' });
      const left = early.kind === 'not_due' ? (early.dueInMs ?? 0) : 0;
      ok(left > 0 && left <= 60_000, `due in ${String(left)} ms`);
      includes(await session.answer(runId, 'c', { output: 'in time' }), { kind: 'stored' });
    });
  });

  describe('queue', () => {
    it('notifies the workers', async ({ session, another }) => {
      const { runId } = await session.newRun('u1');
      await session.claim(session.writer(runId, 1, 1));
      const { streamManager } = await another();
      const notified: string[] = [];
      const leave = await streamManager.onStop(session.id, (run) => notified.push(run));
      await session.begin({ messages: [userMessage('u2')], policy: 'interrupt' });
      await eventually('the worker is notified', () => notified.length > 0);
      equal(notified, [runId]);
      leave();
    });
  });

  describe('runs', () => {
    it('an unknown session has no runs', async ({ store, session }) => {
      equal(await store.runs.current(session.id), null);
      await refuses(session.runs(), 'not_found');
      await refuses(store.runs.read(session.id, 'r'), 'not_found');
    });

    it('an ended run is listed with its error or the reason for its interruption', async (setup) => {
      const { session } = setup;
      const error = { code: 'provider_error', message: 'gone', retryable: true };
      const failed = await session.newRun();
      await session.end(failed.runId, 'failed', { error });
      await session.newRun();
      await session.stop({ reason: 'enough' });
      await session.newRun();
      includes(await session.runs(), [
        { status: 'failed', error },
        { status: 'interrupted', reason: 'enough' },
        { status: 'starting' },
      ]);
    });

    it('the newest run is listed while it is active, while it waits and after its end', async (setup) => {
      const { store, session } = setup;
      const { runId } = await session.newRun();
      includes(await store.runs.current(session.id), { runId, turn: 1, status: 'starting' });
      await session.ask(runId, 1, [approval('a')]);
      const waiting = { runId, status: 'waiting_approval', stepCount: 1, startSequence: 0 };
      includes(await store.runs.current(session.id), waiting);
      equal((await store.runs.current(session.id))?.endedAt, undefined);
      await session.stop();
      const ended = await store.runs.current(session.id);
      includes(ended, { runId, status: 'interrupted', stepCount: 1 });
      ok((ended?.endedAt ?? 0) > 0);
    });

    it('more than nine runs are listed oldest first, and found by id', async ({
      store,
      session,
    }) => {
      const runIds: string[] = [];
      for (let n = 0; n < 12; n += 1) {
        const { runId } = await session.newRun();
        runIds.push(runId);
        if (n < 11) await session.end(runId, n % 2 === 0 ? 'completed' : 'failed');
      }
      const runs = await session.runs();
      for (const run of runs) equal(await store.runs.read(session.id, run.runId), run);
      equal(await store.runs.read(session.id, 'r'), null);
      equal(
        runs.map(({ runId }) => runId),
        runIds,
      );
      equal(
        runs.map(({ status }) => status),
        [...runIds.slice(1).map((_, n) => (n % 2 === 0 ? 'completed' : 'failed')), 'starting'],
      );
      equal(
        runs.map(({ turn }) => turn),
        runIds.map((_, n) => n + 1),
      );
    });
  });
}
