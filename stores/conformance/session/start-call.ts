import { equal, includes } from '../assertions.js';
import type { StreamChunk } from '../../../protocol/chunk.js';
import { AGENT, newCall } from '../fixtures.js';
import type { Suite } from '../suite.js';

export function startCallCases({ describe, it }: Suite): void {
  describe('start call', () => {
    it('a committed call may be executed, with the committed input', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      includes(await session.start(runId, 1, 's'), {
        kind: 'execute',
        execution: 1,
        call: { toolCallId: 's', input: { of: 's' }, runId, step: 1 },
      });
    });

    it('a repeated request of the same attempt gets the same permission', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      const first = await session.start(runId, 1, 's', 7);
      equal(await session.start(runId, 1, 's', 7), first);
    });

    it('a started call is never permitted again: its outcome is unknown, and written once', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      await session.start(runId, 1, 's', 1);
      equal(await session.start(runId, 1, 's', 2), { kind: 'settled' });
      equal(await session.start(runId, 1, 's', 3), { kind: 'settled' });
      includes(await session.finishCall(runId, 1, 's', 'late', 1), { kind: 'already_completed' });
      includes(await session.messages('tool_end'), [
        { toolCallId: 's', errorCode: 'tool_outcome_unknown', providerExecuted: true },
      ]);
      await session.claim(session.writer(runId, 2, 1));
      includes(await store.sessions.rows(session.id, 2), [
        { toolCallId: 's', errorCode: 'tool_outcome_unknown' },
      ]);
    });

    it('a started call of an idempotent tool is permitted again, and the first attempt is fenced off', async ({
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server', { idempotent: true })]);
      await session.start(runId, 1, 's', 1);
      const old = session.callWriter(runId, 1, 's', 1);
      await session.say(old, 1, 'from the first');
      includes(await session.start(runId, 1, 's', 2), { kind: 'execute', execution: 2 });
      equal(await session.start(runId, 1, 's', 1), { kind: 'fenced' });
      equal(await session.say(old, 2, 'zombie'), { kind: 'fenced' });
      equal(await session.finishCall(runId, 1, 's', 'zombie', 1), { kind: 'fenced' });
      includes(await session.finishCall(runId, 1, 's', 'second', 2), { kind: 'stored' });
      equal(await session.messages('text_delta'), []);
      equal(await session.start(runId, 1, 's', 1), { kind: 'settled' });
    });

    it('a started call of a tool that can verify is permitted after it was not done', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      await session.start(runId, 1, 's', 1);
      await session.say(session.callWriter(runId, 1, 's', 1), 1, 'lost');
      const start = (token: number, more: object): Promise<unknown> =>
        store.calls.start({
          writer: session.callWriter(runId, 1, 's', token),
          toolCallId: 's',
          now: 1,
          canVerify: true,
          ...more,
        });
      includes(await start(2, {}), { kind: 'verify', call: { input: { of: 's' } } });
      equal(await session.messages('text_delta'), []);
      // Whichever request gets no reply, the same attempt is asked again.
      includes(await start(2, {}), { kind: 'verify' });
      includes(await start(3, {}), { kind: 'verify' });
      equal(await start(2, { verified: 'not_done' }), { kind: 'fenced' });
      includes(await start(3, { verified: 'not_done' }), { kind: 'execute' });
      includes(await start(3, { verified: 'not_done' }), { kind: 'execute' });
      includes(await start(4, {}), { kind: 'verify' });
      includes(await session.finishCall(runId, 1, 's', 'found', 4), { kind: 'stored' });
      equal(await start(5, {}), { kind: 'settled' });
    });

    it('a started call has an unknown outcome if its tool cannot find out, or is gone', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server'), newCall('t', 'server')]);
      const start = (id: string, token: number, more: object): Promise<unknown> =>
        store.calls.start({
          writer: session.callWriter(runId, 1, id, token),
          toolCallId: id,
          now: 1,
          ...more,
        });
      for (const id of ['s', 't']) {
        includes(await start(id, 1, { canVerify: true }), { kind: 'execute' });
        includes(await start(id, 2, { canVerify: true }), { kind: 'verify' });
      }
      equal(await start('s', 2, { canVerify: true, verified: 'unknown' }), { kind: 'settled' });
      equal(await start('t', 3, {}), { kind: 'settled' });
      includes(await session.messages('tool_end'), [
        { toolCallId: 's', errorCode: 'tool_outcome_unknown' },
        { toolCallId: 't', errorCode: 'tool_outcome_unknown' },
      ]);
    });

    it('a call that can verify is given up when too many executions were lost', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      const kinds: string[] = [];
      for (let token = 1; token <= 4; token += 1) {
        const writer = session.callWriter(runId, 1, 's', token);
        const budget = { most: 2, withinMs: 60_000 };
        const request = { writer, toolCallId: 's', now: 1, canVerify: true, budget };
        kinds.push((await store.calls.start(request)).kind);
      }
      equal(kinds, ['execute', 'verify', 'settled', 'settled']);
    });

    it('a second execution withdraws what the first one wrote, and nothing of its siblings', async ({
      session,
    }) => {
      const { runId } = await session.newRun();
      const calls = ['s', 't'].map((id) => newCall(id, 'server', { idempotent: true }));
      await session.ask(runId, 1, calls);
      await session.start(runId, 1, 's', 1);
      await session.start(runId, 1, 't', 1);
      await session.say(session.callWriter(runId, 1, 's', 1), 1, 'gone');
      await session.say(session.callWriter(runId, 1, 't', 1), 1, 'kept');
      await session.start(runId, 1, 's', 2);
      includes(await session.messages('text_delta'), [{ delta: 'kept' }]);
      includes(await session.messages('stream_resync'), [
        { toolCallId: 's', reason: 'crash_recovery' },
      ]);
      // Earlier entries are not withdrawn by a third attempt.
      await session.start(runId, 1, 's', 3);
      equal((await session.messages('stream_resync')).length, 1);
    });

    it('an unknown outcome reverts announced state changes and silences the attempt', async ({
      streamManager,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server'), newCall('t', 'server')]);
      await session.start(runId, 1, 's', 1);
      const old = session.callWriter(runId, 1, 's', 1);
      const patch = (path: string, undo: unknown[]): StreamChunk => ({
        type: 'state_patch',
        agentId: session.id,
        agentType: AGENT,
        step: 1,
        timestamp: 1,
        patches: [{ op: 'add', path, value: {} }],
        undo: JSON.stringify(undo),
      });
      const list = [{ op: 'replace', path: '/list', value: [] }];
      await streamManager.append(old, 1, [patch('/list', list)], 0);
      await streamManager.append(old, 2, [patch('/a', [{ op: 'remove', path: '/a' }])], 0);
      await session.start(runId, 1, 's', 2);
      includes(await session.messages('state_patch'), [
        {},
        {},
        { patches: [{ op: 'remove', path: '/a' }] },
        { patches: list },
      ]);
      equal(await session.say(old, 3, 'zombie'), { kind: 'fenced' });
    });

    it('an unknown outcome keeps the decision on which the call was based', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      const setup = { approved: true, at: 1, input: { list: [], n: 1_234_567_890_123_456 } };
      const automatic = { approved: true, at: 2, automatic: true };
      await session.ask(runId, 1, [
        newCall('a', 'approval'),
        newCall('s', 'server', { decision: automatic }),
      ]);
      await session.start(runId, 1, 's', 1);
      await session.start(runId, 1, 's', 2);
      const asked = { sessionId: session.id, agentType: AGENT, runId, toolCallId: 'a' };
      const decision = { ...asked, decision: setup, permitted: true, chunks: [], now: 1 };
      await store.calls.settle({ source: 'approval', ...decision });
      await session.start(runId, 1, 'a', 1);
      await session.start(runId, 1, 'a', 2);
      await session.claim(session.writer(runId, 2, 1));
      includes(await store.sessions.rows(session.id, 2), [
        { toolCallId: 'a', errorCode: 'tool_outcome_unknown', decision: setup },
        { toolCallId: 's', errorCode: 'tool_outcome_unknown', decision: automatic },
      ]);
    });

    it('calls that are not approved, not requested, or executed by a client are refused', async ({
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'approval'), newCall('c', 'client')]);
      equal(await session.start(runId, 1, 'a'), { kind: 'refused' });
      equal(await session.start(runId, 1, 'c'), { kind: 'refused' });
      equal(await session.start(runId, 1, 'invented'), { kind: 'refused' });
    });

    it('an approved call is permitted once, with its decision', async ({ store, session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'approval')]);
      await session.decide(runId, 'a', true);
      includes(await session.start(runId, 1, 'a', 1), {
        kind: 'execute',
        decision: { approved: true },
      });
      includes(await store.sessions.read(session.id), { resumeTaken: true });
      equal(await session.start(runId, 1, 'a', 2), { kind: 'settled' });
    });

    it('an approved call is refused until the last answer of its batch', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'approval'), newCall('c', 'client')]);
      await session.decide(runId, 'a', true);
      equal(await session.start(runId, 1, 'a'), { kind: 'refused' });
      includes(await store.sessions.read(session.id), { stream: 'paused' });
      await session.answer(runId, 'c', { output: 1 });
      includes(await session.start(runId, 1, 'a'), { kind: 'execute' });
    });

    it('a denied call is already settled', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'approval')]);
      await session.decide(runId, 'a', false);
      equal(await session.start(runId, 1, 'a'), { kind: 'settled' });
    });

    it('the run pauses if the last busy call turns out to have an unknown outcome', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server'), newCall('a', 'approval')]);
      await session.start(runId, 1, 's', 1);
      await session.start(runId, 1, 's', 2);
      includes(await store.sessions.read(session.id), { status: 'waiting_approval' });
    });
  });
}
