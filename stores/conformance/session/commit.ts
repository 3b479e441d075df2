import { equal, includes } from '../assertions.js';
import { newCall } from '../fixtures.js';
import type { Case, Suite } from '../suite.js';

async function claimed({ session }: Case) {
  const { runId } = await session.newRun();
  const writer = session.writer(runId, 1, 1);
  await session.claim(writer);
  return { runId, writer };
}

const typesOf = async ({ session }: Case): Promise<string[]> =>
  (await session.log()).map(({ message }) => message.type);

export function commitCases({ describe, it }: Suite): void {
  describe('commit', () => {
    it('row, calls and pause are stored together', async (setup) => {
      const { store, session } = setup;
      const { runId, writer } = await claimed(setup);
      const calls = [newCall('a', 'approval', { deadlineMs: 5_000 }), newCall('c', 'client')];
      const result = await session.commit(writer, { calls });

      const view = await store.sessions.view(session.id);
      equal(result, { kind: 'committed', sequence: view?.record.sequence, paused: true });
      includes(view?.record, {
        status: 'waiting_approval',
        stream: 'paused',
        committedStep: 1,
        pauseSequence: view?.record.sequence,
      });
      includes(view?.rows, [{ role: 'user' }, { role: 'assistant' }]);
      includes(view?.openCalls, [
        {
          state: 'waiting',
          askedAt: view?.record.sequence,
          spec: {
            toolCallId: 'a',
            kind: 'approval',
            runId,
            step: 1,
            input: { of: 'a' },
            approvalId: `${runId}::a`,
            deadlineMs: 5_000,
          },
        },
        { state: 'waiting', spec: { toolCallId: 'c', kind: 'client' } },
      ]);
      equal(await typesOf(setup), ['step_end', 'suspension_marker', 'run_paused']);
      includes(await session.messages('run_paused'), [
        { reason: 'approval', pendingToolCallId: 'a', pendingToolName: 'approval-tool' },
      ]);
    });

    it('a run that waits for client tools has its own status', async ({ store, session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('c', 'client')]);
      includes(await store.sessions.read(session.id), { status: 'waiting_tool' });
      includes(await session.messages('run_paused'), [{ reason: 'client_tool' }]);
    });

    it('the run does not pause while a server tool must run, but with its result', async (setup) => {
      const { store, session } = setup;
      const { runId } = await session.newRun();
      const calls = [newCall('s', 'server'), newCall('a', 'approval')];
      includes(await session.ask(runId, 1, calls), { paused: false });
      includes(await store.sessions.read(session.id), { stream: 'active' });
      await session.start(runId, 1, 's');
      equal(await session.messages('run_paused'), []);
      await session.finishCall(runId, 1, 's', 1);
      includes(await store.sessions.read(session.id), { stream: 'paused' });
      equal((await typesOf(setup)).slice(-3), ['tool_end', 'suspension_marker', 'run_paused']);
      includes(await session.messages('suspension_marker'), [
        { kind: 'suspended_step_partial', payload: { toolCallIds: ['a'], stepId: 's1' } },
      ]);
    });

    it('a repeated commit returns the first outcome and writes nothing', async (setup) => {
      const { store, session } = setup;
      const { writer } = await claimed(setup);
      await session.commit(writer, { calls: [newCall('a', 'approval')] });
      const before = await store.sessions.view(session.id);
      includes(await session.commit(writer, { calls: [newCall('other', 'approval')] }), {
        kind: 'done',
        outcome: { kind: 'calls', calls: [{ toolCallId: 'a' }] },
      });
      equal(await store.sessions.view(session.id), before);
    });

    it('a repeated commit that ended the run returns how it ended', async (setup) => {
      const { session } = setup;
      const { writer } = await claimed(setup);
      await session.commit(writer);
      equal(await session.commit(writer), {
        kind: 'done',
        outcome: { kind: 'ended', step: 1, status: 'completed' },
      });
      equal((await session.messages('stream_end')).length, 1);
    });

    it('a commit of a fenced attempt is refused', async (setup) => {
      const { store, session } = setup;
      const { runId, writer: zombie } = await claimed(setup);
      await session.claim(session.writer(runId, 1, 2));
      equal(await session.commit(zombie), { kind: 'fenced' });
      equal((await store.sessions.rows(session.id, 0)).length, 1);
    });

    it('a commit finds a stop, unless it answers one', async (setup) => {
      const { store, session } = setup;
      const { runId, writer } = await claimed(setup);
      await session.stop({ reason: 'why' });
      equal(await session.commit(writer), {
        kind: 'stopped',
        stop: { mode: 'interrupt', reason: 'why' },
      });
      await session.commit(writer, {
        answersStop: true,
        final: { status: 'interrupted' },
        outcome: { kind: 'ended', step: 1, status: 'interrupted' },
      });
      includes(await session.messages('run_interrupted'), [
        { reason: 'why', checkpointId: `cpv1-${session.id}-s1-${runId.split(':')[1] ?? ''}` },
      ]);
      equal((await store.sessions.read(session.id))?.stop, undefined);
    });

    it('a final commit ends run and stream', async (setup) => {
      const { store, session } = setup;
      const { writer } = await claimed(setup);
      const error = { code: 'provider_error', message: 'It failed.', retryable: true };
      const row = { role: 'tool' as const, toolCallId: 'x', toolName: 't', error: 'e' };
      await session.commit(writer, {
        final: { status: 'failed', error },
        outcome: { kind: 'ended', step: 1, status: 'failed', error },
        calls: [newCall('x', 'server', { row })],
      });
      includes(await store.sessions.read(session.id), {
        status: 'failed',
        stream: 'failed',
        error,
      });
      equal(await typesOf(setup), ['step_end', 'error', 'stream_end']);
      includes(await store.sessions.rows(session.id, 0), [
        { role: 'user' },
        { role: 'assistant' },
        { role: 'tool' },
      ]);
    });

    it('a commit with only settled calls leads to the next step', async ({ session }) => {
      const { runId } = await session.newRun();
      const row = { role: 'tool' as const, toolCallId: 'x', toolName: 't', error: 'unknown' };
      includes(await session.ask(runId, 1, [newCall('x', 'server', { row })]), { paused: false });
      includes(await session.claim(session.writer(runId, 2, 1)), { kind: 'claimed', rowCount: 3 });
    });

    it('a writer that has seen more than the store holds writes nothing', async (setup) => {
      const { store, session } = setup;
      const { writer } = await claimed(setup);
      const before = await store.sessions.view(session.id);
      equal(await session.commit(writer, { known: 7 }), { kind: 'rewound' });
      equal(await store.sessions.view(session.id), before);
    });

    it('a committed reply stays when another attempt claims the step later', async (setup) => {
      const { session } = setup;
      const { runId, writer } = await claimed(setup);
      await session.say(writer, 1, 'kept');
      await session.commit(writer, { calls: [newCall('s', 'server')] });
      const before = await session.log();
      await session.claim(session.writer(runId, 1, 99));
      equal(await session.log(), before);
    });
  });
}
