import { equal, includes } from '../assertions.js';
import type { RecordStepResult, SuspendCallResult } from '../../contract/journal.js';
import type { WaitCall } from '../../contract/call-record.js';
import type { Store } from '../../contract/store.js';
import type { SettleCallResult } from '../../contract/calls.js';
import { AGENT, newCall } from '../fixtures.js';
import type { SessionDriver } from '../session-driver.js';
import type { Suite } from '../suite.js';

/** Records a step of call `s`, from its beginning to its result. */
async function recordStep(
  store: Store,
  session: SessionDriver,
  runId: string,
  at: number,
  options: { token?: number; result?: unknown; failed?: boolean } = {},
): Promise<RecordStepResult> {
  const { token = 1, result, failed = false } = options;
  const writer = session.callWriter(runId, 1, 's', token);
  const input = { writer, toolCallId: 's', at, now: Date.now() };
  if (failed) return store.calls.recordStep({ ...input, failed });
  const begun = await store.calls.recordStep(input);
  if (result === undefined || begun.kind !== 'recorded') return begun;
  const operation = { kind: 'step', name: `step ${String(at)}`, result } as const;
  return store.calls.recordStep({ ...input, operation });
}

/** The tool of call `s` waits, at this place of its journal. */
export function suspend(
  store: Store,
  session: SessionDriver,
  runId: string,
  at: number,
  extra: { token?: number; wait?: Partial<WaitCall>; dueInMs?: number } = {},
): Promise<SuspendCallResult> {
  const { token = 1, wait, dueInMs } = extra;
  const id = `s~${String(at)}`;
  const asked = { toolCallId: id, toolName: 'ask', kind: 'client' as const, input: {}, of: 's' };
  return store.calls.suspend({
    writer: session.callWriter(runId, 1, 's', token),
    toolCallId: 's',
    at,
    now: Date.now(),
    operation: { kind: 'suspend', name: 'ask' },
    wait: { ...asked, ...wait },
    ...(dueInMs !== undefined && { dueInMs }),
  });
}

export function journalCases({ describe, it }: Suite): void {
  describe('the journal of a call', () => {
    it('a lost call with recorded steps is executed again, and gets them', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      await session.start(runId, 1, 's', 1);
      const result = { deep: { empty: [], long: 12345678901234 } };
      equal(await recordStep(store, session, runId, 0, { result }), { kind: 'recorded' });
      const again = await session.start(runId, 1, 's', 2);
      includes(again, { kind: 'execute', journal: [{ kind: 'step', name: 'step 0', result }] });
      equal(await recordStep(store, session, runId, 1, { result: 1 }), { kind: 'fenced' });
    });

    it('a call that was lost in the middle of a step has an unknown outcome', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      await session.start(runId, 1, 's', 1);
      await recordStep(store, session, runId, 0, { result: 1 });
      await recordStep(store, session, runId, 1);
      equal(await session.start(runId, 1, 's', 2), { kind: 'settled' });
      includes(await session.messages('tool_end'), [{ errorCode: 'tool_outcome_unknown' }]);
    });

    it('a call that was lost after a step had thrown is executed again', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      await session.start(runId, 1, 's', 1);
      await recordStep(store, session, runId, 0);
      equal(await recordStep(store, session, runId, 0, { failed: true }), { kind: 'recorded' });
      await recordStep(store, session, runId, 1, { result: 1 });
      includes(await session.start(runId, 1, 's', 2), {
        kind: 'execute',
        journal: [null, { kind: 'step', name: 'step 1' }],
      });
      // It is carried out once more: its result counts, and it can be lost in its middle.
      await recordStep(store, session, runId, 0, { token: 2, result: 'now' });
      includes(await session.start(runId, 1, 's', 3), { journal: [{ result: 'now' }, {}] });
    });

    it('a step that threw and was begun again can be lost in its middle', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      await session.start(runId, 1, 's', 1);
      await recordStep(store, session, runId, 0, { failed: true });
      await session.start(runId, 1, 's', 2);
      await recordStep(store, session, runId, 0, { token: 2 });
      equal(await session.start(runId, 1, 's', 3), { kind: 'settled' });
    });

    it('a result that was recorded is kept when it is recorded again', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      await session.start(runId, 1, 's', 1);
      await recordStep(store, session, runId, 0, { result: 'first' });
      equal(await recordStep(store, session, runId, 0, { result: 'second' }), {
        kind: 'recorded',
      });
      includes(await session.start(runId, 1, 's', 2), { journal: [{ result: 'first' }] });
    });

    it('text before a recorded step stays, text after it is withdrawn', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      await session.start(runId, 1, 's', 1);
      const writer = session.callWriter(runId, 1, 's', 1);
      await session.say(writer, 1, 'before');
      await recordStep(store, session, runId, 0, { result: 1 });
      await session.say(writer, 2, 'after');
      await session.start(runId, 1, 's', 2);
      includes(await session.messages('text_delta'), [{ delta: 'before' }]);
    });

    it('a call that waits pauses the run; the answer releases it, with the answer', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      await session.start(runId, 1, 's', 1);
      await recordStep(store, session, runId, 0, { result: 1 });
      equal(await suspend(store, session, runId, 1), { kind: 'suspended' });
      equal(await suspend(store, session, runId, 1), { kind: 'suspended' });
      includes(await store.sessions.read(session.id), { status: 'waiting_tool', stream: 'paused' });
      equal(await session.start(runId, 1, 's', 2), { kind: 'suspended' });
      const answered = await session.answer(runId, 's~1', { output: { yes: true } });
      includes(answered, { kind: 'stored', resume: { step: 1, approved: ['s'] } });
      includes(await session.answer(runId, 's~1', { output: 2 }), { kind: 'already_completed' });
      includes(await session.start(runId, 1, 's', 2), {
        kind: 'execute',
        execution: 1,
        journal: [{ result: 1 }, { kind: 'suspend', row: { output: { yes: true } } }],
      });
      includes(await session.finishCall(runId, 1, 's', 'done', 2), { kind: 'stored' });
      await session.claim(session.writer(runId, 2, 1));
      const rows = await store.sessions.rows(session.id, 2);
      // The model gets the result of its own call only.
      includes(
        rows.filter((row) => !('display' in row)),
        [{ role: 'tool', toolCallId: 's', output: 'done' }],
      );
      equal(await store.calls.read(session.id, 's~1'), undefined);
    });

    it('a timer ends by the clock of the store', async ({ store, session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      await session.start(runId, 1, 's', 1);
      await suspend(store, session, runId, 0, { wait: { kind: 'timer' }, dueInMs: 60_000 });
      includes(await session.expire(runId, 's~0'), { kind: 'not_due' });
      includes(await session.answer(runId, 's~0', { output: 1 }), { kind: 'kind_mismatch' });
      await session.stop();
      includes(await store.sessions.read(session.id), { status: 'interrupted' });
      includes(await session.messages('tool_end'), [{ toolCallId: 's', errorCode: 'run_stopped' }]);
    });

    it('a pause names questions only, no timer', async ({ store, session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server'), newCall('a', 'approval')]);
      await session.start(runId, 1, 's', 1);
      await suspend(store, session, runId, 0, { wait: { kind: 'timer' }, dueInMs: 60_000 });
      includes(await store.calls.suspension(session.id), { toolCallIds: ['a'] });
      includes(await session.messages('run_paused'), [{ pendingToolCallId: 'a' }]);
      includes(await session.messages('suspension_marker'), [{ payload: { toolCallIds: ['a'] } }]);
    });

    it('a timer that is over releases its call', async ({ store, session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      await session.start(runId, 1, 's', 1);
      await suspend(store, session, runId, 0, { wait: { kind: 'timer' }, dueInMs: 0 });
      includes(await session.expire(runId, 's~0'), {
        kind: 'stored',
        resume: { approved: ['s'] },
      });
      includes(await session.start(runId, 1, 's', 2), { kind: 'execute' });
    });

    it('a call waits only while its run is active and its attempt owns it', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server', { idempotent: true })]);
      await session.start(runId, 1, 's', 1);
      await session.start(runId, 1, 's', 2);
      equal(await suspend(store, session, runId, 0), { kind: 'fenced' });
      await session.stop();
      includes(await suspend(store, session, runId, 0, { token: 2 }), { kind: 'superseded' });
    });

    it('a call that runs beside it lets the question wait, and is waited for', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server'), newCall('t', 'server')]);
      await session.start(runId, 1, 's', 1);
      await session.start(runId, 1, 't', 1);
      await suspend(store, session, runId, 0);
      includes(await store.sessions.read(session.id), { status: 'running', stream: 'active' });
      await session.finishCall(runId, 1, 't', 'done');
      includes(await store.sessions.read(session.id), { status: 'waiting_tool' });
    });

    it('a webhook takes one request, and none after its end', async ({ store, session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      await session.start(runId, 1, 's', 1);
      const wait = { kind: 'webhook' } as const;
      await suspend(store, session, runId, 0, { wait, dueInMs: 60_000 });
      const call = (toolCallId: string): Promise<SettleCallResult> =>
        store.calls.settle({
          source: 'webhook',
          sessionId: session.id,
          agentType: AGENT,
          toolCallId,
          runId,
          row: { role: 'tool', toolCallId, toolName: 'ask', output: 'sent' },
          chunks: [],
          now: Date.now(),
        });
      equal(await call('unknown'), { kind: 'not_pending' });
      includes(await session.answer(runId, 's~0', { output: 1 }), { kind: 'kind_mismatch' });
      includes(await call('s~0'), { kind: 'stored', resume: { approved: ['s'] } });
      equal(await call('s~0'), { kind: 'already_completed' });
      includes(await session.start(runId, 1, 's', 2), { journal: [{ row: { output: 'sent' } }] });
      await suspend(store, session, runId, 1, { token: 2, wait, dueInMs: 60_000 });
      await session.stop();
      equal(await call('s~1'), { kind: 'expired' });
      equal(await call('s~0'), { kind: 'already_completed' });
    });

    it('a journal holds a bounded number of operations', async ({ store, session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      await session.start(runId, 1, 's', 1);
      equal(await recordStep(store, session, runId, 100), { kind: 'full' });
      equal(await suspend(store, session, runId, 100), { kind: 'full' });
    });
  });
}
