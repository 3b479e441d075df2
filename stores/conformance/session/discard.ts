import { ok } from 'node:assert/strict';
import { equal, includes } from '../assertions.js';
import { AGENT, textChunk, textIn } from '../fixtures.js';
import type { Suite } from '../suite.js';

export function discardCases({ describe, it }: Suite): void {
  describe('discard', () => {
    it('a discard withdraws what the attempt wrote and counts a failure once', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await session.say(writer, 1, 'gone');
      const discard = (failure: number): Promise<unknown> =>
        store.steps.discard({ writer, failure, reason: 'provider_error', now: 1 });
      equal(await discard(1), { kind: 'discarded', failures: 1 });
      await session.say(writer, 2, 'again');
      equal(await discard(1), { kind: 'discarded', failures: 1 });
      equal(textIn(await session.log()), 'again');
      equal(await discard(2), { kind: 'discarded', failures: 2 });
      equal(textIn(await session.log()), '');
      includes(await session.messages('step_discarded'), [
        { reason: 'provider_error', stepId: 's1' },
        { reason: 'provider_error' },
      ]);
      // The count outlives the worker.
      includes(await session.claim(session.writer(runId, 1, 2)), { failures: 2 });
    });

    it('a discard names the model that attempts at the same step begin with', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      const claim = await session.claim(writer);
      ok(claim.kind === 'claimed' && claim.fallback === undefined);
      const discard = { writer, reason: 'provider_error', now: 1 };
      await store.steps.discard({ ...discard, failure: 1 });
      await store.steps.discard({ ...discard, failure: 2, fallback: 1 });
      await store.steps.discard({ ...discard, failure: 2, fallback: 2 });
      await store.steps.discard({ ...discard, failure: 3 });
      const young = session.writer(runId, 1, 2);
      includes(await session.claim(young), { failures: 3, fallback: { index: 1, before: 2 } });
      await session.commit(young);
      const { runId: another } = await session.newRun();
      const next = await session.claim(session.writer(another, 1, 1));
      ok(next.kind === 'claimed' && next.fallback === undefined);
    });

    it('a discard with a wait shows it in the record until the step is claimed again, and no model streams', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      includes(await session.claim(writer), { failures: 0, failingForMs: 0, waits: 0 });
      const discard = { writer, reason: 'provider_overloaded', now: 1 };
      await store.steps.discard({ ...discard, failure: 1 });
      equal((await store.sessions.read(session.id))?.waitsUntil, undefined);
      await store.steps.discard({ ...discard, failure: 2, waitMs: 60_000 });
      const { waitsUntil = 0, status } = (await store.sessions.read(session.id)) ?? {};
      equal(status, 'running');
      ok(Math.abs(waitsUntil - Date.now() - 60_000) < 10_000);
      const claim = await session.claim(session.writer(runId, 1, 2));
      includes(claim, { failures: 2, waits: 1 });
      ok(claim.kind === 'claimed' && claim.failingForMs >= 0 && claim.failingForMs < 60_000);
      equal((await store.sessions.read(session.id))?.waitsUntil, undefined);
      equal((await session.stop()).kind, 'stopping');
    });

    it('a stop ends a run at once after a discard with a wait', async ({ store, session }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await store.steps.discard({ writer, failure: 1, reason: 'x', waitMs: 60_000, now: 1 });
      includes(await session.stop(), { kind: 'ended', waited: true });
      includes(await store.sessions.read(session.id), { status: 'interrupted', stream: 'ended' });
      includes(await session.newRun(), { turn: 2 });
      equal((await store.sessions.read(session.id))?.waitsUntil, undefined);
    });

    it('entries of other writers stay', async ({ store, streamManager, session }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await session.say(writer, 1, 'gone');
      const beside = await streamManager.createWriter(session.id, session.id, AGENT);
      await beside.write(textChunk('kept'));
      await store.steps.discard({ writer, failure: 1, reason: 'x', now: 1 });
      equal(textIn(await session.log()), 'kept');
    });

    it('a fenced attempt and an ended run are refused', async ({ store, session }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      const young = session.writer(runId, 1, 2);
      await session.claim(young);
      await session.say(young, 1, 'kept');
      const discard = { failure: 1, reason: 'x', now: 1 };
      equal(await store.steps.discard({ ...discard, writer }), { kind: 'fenced' });
      await session.commit(young);
      equal(await store.steps.discard({ ...discard, writer: young }), { kind: 'superseded' });
      equal((await session.messages('text_delta')).length, 1);
    });
  });
}
