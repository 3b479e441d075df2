import { equal, includes } from '../assertions.js';
import { newCall, textIn } from '../fixtures.js';
import { drive, type SessionDriver } from '../session-driver.js';
import type { Suite } from '../suite.js';

/** Stops a run while its model streams; the partial text is kept. */
async function interrupt(session: SessionDriver, runId: string, step: number): Promise<void> {
  const writer = session.writer(runId, step, 1);
  await session.claim(writer);
  await session.say(writer, 1, 'half a sen');
  await session.stop();
  await session.commit(writer, { answersStop: true, final: { status: 'interrupted' } });
}

export function resumeRunCases({ describe, it }: Suite): void {
  describe('resume run', () => {
    it('a new run continues the same turn after the last committed step', async ({
      store,
      session,
    }) => {
      const first = await session.newRun();
      const row = { role: 'tool' as const, toolCallId: 'c', toolName: 't', error: 'x' };
      await session.ask(first.runId, 1, [newCall('c', 'server', { row })]);
      await interrupt(session, first.runId, 2);
      const before = await store.sessions.read(session.id);
      const resumed = await session.resume({ nonce: 'again', now: 77, by: 'ann' });
      equal(resumed, {
        kind: 'resumed',
        run: {
          ...first,
          runId: `${session.id}:2-again`,
          startedAt: 77,
          from: { step: 2, known: before?.sequence },
        },
      });
      includes(await store.sessions.read(session.id), {
        status: 'starting',
        stream: 'active',
        turn: 1,
        messageId: first.messageId,
        turnStartSequence: 0,
        turnStartRow: 0,
        committedStep: 2,
        claimedStep: 2,
        runMode: 'continue',
        runBy: 'ann',
        runFromStep: 2,
        runStartSequence: before?.sequence,
      });
      equal((await store.sessions.read(session.id))?.interrupted, undefined);
      includes(await session.messages('run_resumed'), [
        {
          runId: `${session.id}:2-again`,
          fromCheckpointId: before?.checkpointId,
          fromStepCount: 2,
          mode: 'continue',
        },
      ]);
      // The model gets everything, and step numbers continue.
      includes(await session.claim(session.writer(`${session.id}:2-again`, 3, 1)), {
        kind: 'claimed',
        rowCount: 4,
        messageId: first.messageId,
      });
      includes(await session.commit(session.writer(`${session.id}:2-again`, 3, 1)), {
        kind: 'committed',
      });
      includes(await session.newRun(), { messageId: 'msg-3', turn: 2 });
    });

    it('a repeated request returns the same run', async ({ store, session }) => {
      const { runId } = await session.newRun();
      await interrupt(session, runId, 1);
      const input = { nonce: 'same', now: 5 };
      const first = await session.resume(input);
      equal(await session.resume({ ...input, now: 6 }), first);
      equal((await session.messages('run_resumed')).length, 1);
      equal((await store.runs.list(session.id)).length, 2);
    });

    it('many concurrent requests start one run', async ({ session, another }) => {
      const { runId } = await session.newRun();
      await interrupt(session, runId, 1);
      const other = drive(await another(), session.id);
      const results = await Promise.all(
        Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? session : other).resume({ runId })),
      );
      equal(results.map(({ kind }) => kind).sort(), [
        ...Array<string>(9).fill('active'),
        'resumed',
      ]);
      equal((await session.messages('run_resumed')).length, 1);
    });

    it('an active or waiting run is left alone', async ({ session }) => {
      equal(await session.resume(), { kind: 'not_found' });
      const { runId } = await session.newRun();
      equal(await session.resume(), { kind: 'active', runId });
      await session.ask(runId, 1, [newCall('a', 'approval')]);
      equal(await session.resume(), { kind: 'active', runId });
    });

    it('a run that ended for good, and one that is not the newest, are refused', async ({
      session,
    }) => {
      const first = await session.newRun();
      await session.stop();
      const second = await session.newRun();
      await session.end(second.runId, 'completed');
      equal(await session.resume({ runId: first.runId }), {
        kind: 'stale_run',
        runId: second.runId,
      });
      equal(await session.resume(), { kind: 'final', status: 'completed' });
      await session.newRun();
      await session.stop({ mode: 'abort' });
      equal(await session.resume(), { kind: 'final', status: 'aborted' });
      for (const retryable of [false, true]) {
        const { runId } = await session.newRun();
        await session.end(runId, 'failed', { error: { code: 'x', message: 'y', retryable } });
        const result = await session.resume();
        equal(result.kind, retryable ? 'resumed' : 'final');
      }
    });

    it('the new run continues after a reply that was rebuilt from the log', async ({
      session,
      store,
    }) => {
      const { runId, messageId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await session.say(writer, 1, 'half');
      await session.stop();
      const parts = [{ type: 'text' as const, text: 'half' }];
      const row = { role: 'assistant' as const, messageId, runId, step: 1, parts };
      await session.end(runId, 'interrupted', { row: { ...row, interrupted: 'interrupt' } });
      includes(await session.resume(), { run: { from: { step: 1 } } });
      equal((await store.sessions.read(session.id))?.committedStep, 1);
      equal(textIn(await session.log()), 'half');
    });

    it('an unfinished step is withdrawn and repeated', async ({ session }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await session.say(writer, 1, 'never committed');
      await session.stop();
      await session.end(runId, 'interrupted');
      const resumed = await session.resume({ nonce: 'n' });
      includes(resumed, { kind: 'resumed' });
      equal(textIn(await session.log()), '');
      includes(await session.claim(session.writer(`${session.id}:2-n`, 1, 1)), { kind: 'claimed' });
    });

    it('calls that waited at the stop are settled, and the turn can be resumed repeatedly', async ({
      store,
      session,
    }) => {
      let { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'approval'), newCall('c', 'client')]);
      await session.stop();
      for (const step of [2, 3]) {
        const resumed = await session.resume();
        if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
        equal(resumed.run.from?.step, step - 1);
        ({ runId } = resumed.run);
        await interrupt(session, runId, step);
      }
      includes(await store.sessions.rows(session.id, 0), [
        { role: 'user' },
        { role: 'assistant', step: 1 },
        { role: 'tool', toolCallId: 'a', errorCode: 'run_stopped' },
        { role: 'tool', toolCallId: 'c', errorCode: 'run_stopped' },
        { role: 'assistant', step: 2 },
        { role: 'assistant', step: 3 },
      ]);
      includes(await store.runs.list(session.id), [
        { mode: 'new', turn: 1 },
        { mode: 'continue', turn: 1 },
        { mode: 'continue', turn: 1, status: 'interrupted' },
      ]);
    });

    it('writers of the previous run are fenced off', async ({ session }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 9);
      await session.claim(writer);
      await session.say(writer, 1, 'a');
      await session.stop();
      await session.end(runId, 'interrupted');
      await session.resume();
      equal(await session.say(writer, 2, 'b'), { kind: 'superseded' });
      equal(await session.commit(writer), { kind: 'superseded' });
      equal(await session.claim(writer), { kind: 'superseded' });
      equal(await session.end(runId, 'failed'), { kind: 'superseded' });
    });
  });
}
