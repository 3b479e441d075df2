import { equal, includes, eventually } from '../assertions.js';
import { newCall } from '../fixtures.js';
import type { SessionDriver } from '../session-driver.js';
import type { Suite } from '../suite.js';

async function errorCodes(session: SessionDriver): Promise<(string | undefined)[]> {
  return (await session.messages('tool_end')).map(({ errorCode }) => errorCode);
}

export function stopCases({ describe, it }: Suite): void {
  describe('stop', () => {
    it('a paused run ends at once, and its waiting calls are settled', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'approval')]);
      equal(await session.stop({ reason: 'bye' }), { kind: 'ended', runId });
      includes(await store.sessions.read(session.id), { status: 'interrupted', stream: 'ended' });
      equal(await errorCodes(session), ['run_stopped']);
      includes(await session.messages('run_interrupted'), [{ reason: 'bye' }]);
      equal((await session.log()).at(-1)?.message.type, 'stream_end');
    });

    it('a run whose model has not begun to stream ends at once', async ({ store, session }) => {
      const { runId } = await session.newRun();
      equal(await session.stop({ mode: 'abort' }), { kind: 'ended', runId });
      includes(await store.sessions.read(session.id), { status: 'aborted', stream: 'failed' });
      equal(await session.claim(session.writer(runId, 1, 1)), { kind: 'superseded' });
    });

    it('a run between steps ends at once: started calls are unknown, others not executed', async ({
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server'), newCall('t', 'server')]);
      await session.start(runId, 1, 's');
      await session.stop();
      equal(await errorCodes(session), ['tool_outcome_unknown', 'run_stopped']);
      equal(await session.finishCall(runId, 1, 's', 'late'), { kind: 'already_completed' });
    });

    it('while a model streams, a record is left and the workers are notified', async ({
      store,
      session,
      another,
    }) => {
      const { runId } = await session.newRun();
      await session.claim(session.writer(runId, 1, 1));
      const stopped: string[] = [];
      const { streamManager } = await another();
      const leave = await streamManager.onStop(session.id, (run) => {
        stopped.push(run);
      });
      equal(await session.stop({ by: 'ann' }), { kind: 'stopping', runId });
      await eventually('the worker hears of the stop', () => stopped.length > 0);
      equal(stopped, [runId]);
      leave();
      includes(await store.sessions.read(session.id), {
        status: 'running',
        stop: { mode: 'interrupt', by: 'ann' },
      });
    });

    it('a repeated stop keeps the first reason, but an abort replaces an interrupt', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.claim(session.writer(runId, 1, 1));
      const stopOf = async (): Promise<unknown> => (await store.sessions.read(session.id))?.stop;
      await session.stop({ reason: 'first' });
      await session.stop({ reason: 'second' });
      equal(await stopOf(), { mode: 'interrupt', reason: 'first' });
      await session.stop({ mode: 'abort', reason: 'third' });
      equal(await stopOf(), { mode: 'abort', reason: 'third' });
    });

    it('a stop of another run, or of an ended one, does nothing', async ({ session }) => {
      const { runId } = await session.newRun();
      equal(await session.stop({ runId: 'other' }), { kind: 'nothing' });
      await session.ask(runId, 1, []);
      const before = await session.log();
      equal(await session.stop(), { kind: 'nothing' });
      equal(await session.log(), before);
    });
  });
}
