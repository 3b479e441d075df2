import { ok } from 'node:assert/strict';
import { equal, includes, refuses } from '../assertions.js';
import { approval, server } from '../fixtures.js';
import type { Suite } from '../suite.js';

export function runCases({ describe, it }: Suite): void {
  describe('runs', () => {
    it('an unknown session has no runs', async ({ store, session }) => {
      equal(await store.runs.current(session.id), null);
      await refuses(session.runs(), 'not_found');
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

    it('more than nine runs are listed oldest first', async ({ session }) => {
      const runIds: string[] = [];
      for (let n = 0; n < 12; n += 1) {
        const { runId } = await session.newRun();
        runIds.push(runId);
        if (n < 11) await session.end(runId, n % 2 === 0 ? 'completed' : 'failed');
      }
      const runs = await session.runs();
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

  describe('the interrupt record', () => {
    it('it describes how the newest run was stopped, until the next run begins', async (setup) => {
      const { store, session } = setup;
      await refuses(store.runs.interruption(session.id), 'not_found');
      const { runId } = await session.newRun();
      equal(await store.runs.interruption(session.id), null);
      await session.stop({ mode: 'abort', reason: 'enough', by: 'ann' });
      includes(await store.runs.interruption(session.id), {
        runId,
        mode: 'abort',
        reason: 'enough',
        checkpointId: null,
      });
      await session.newRun();
      equal(await store.runs.interruption(session.id), null);
    });

    it('it names the checkpoint that the run keeps', async ({ store, session }) => {
      await session.asked(server('s'));
      await session.stop();
      const { checkpointId } = (await store.runs.interruption(session.id)) ?? {};
      equal(checkpointId, (await store.checkpoints.latest(session.id))?.id);
    });
  });
}
