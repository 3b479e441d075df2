import { equal, includes } from '../assertions.js';
import type { StreamChunk } from '../../../protocol/chunk.js';
import { AGENT, newCall } from '../fixtures.js';
import type { Suite } from '../suite.js';

export function startCallCases({ describe, it }: Suite): void {
  describe('start call', () => {
    it('permits a committed call, with the input that was committed', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      includes(await session.start(runId, 1, 's'), {
        kind: 'execute',
        execution: 1,
        call: { toolCallId: 's', input: { of: 's' }, runId, step: 1 },
      });
    });

    it('sent again by the same attempt is the same permission', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('s', 'server')]);
      const first = await session.start(runId, 1, 's', 7);
      equal(await session.start(runId, 1, 's', 7), first);
    });

    it('never permits a started call again: its outcome is unknown, said once', async ({
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

    it('permits a started call again when the tool is idempotent, and fences the first one', async ({
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

    it('again withdraws what the first one wrote, and nothing of its siblings', async ({
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
      // What was told before it is no part of what a third attempt would withdraw.
      await session.start(runId, 1, 's', 3);
      equal((await session.messages('stream_resync')).length, 1);
    });

    it('of an unknown outcome takes back what was told of the state, and silences the attempt', async ({
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

    it('of an unknown outcome keeps the decision that it rested on', async ({ store, session }) => {
      const { runId } = await session.newRun();
      const given = { approved: true, at: 1, input: { list: [], n: 1_234_567_890_123_456 } };
      const automatic = { approved: true, at: 2, automatic: true };
      await session.ask(runId, 1, [
        newCall('a', 'approval'),
        newCall('s', 'server', { decision: automatic }),
      ]);
      await session.start(runId, 1, 's', 1);
      await session.start(runId, 1, 's', 2);
      const asked = { sessionId: session.id, agentType: AGENT, runId, toolCallId: 'a' };
      const decision = { ...asked, decision: given, chunks: [], now: 1 };
      await store.calls.settle({ source: 'approval', ...decision });
      await session.start(runId, 1, 'a', 1);
      await session.start(runId, 1, 'a', 2);
      await session.claim(session.writer(runId, 2, 1));
      includes(await store.sessions.rows(session.id, 2), [
        { toolCallId: 'a', errorCode: 'tool_outcome_unknown', decision: given },
        { toolCallId: 's', errorCode: 'tool_outcome_unknown', decision: automatic },
      ]);
    });

    it('refuses what nobody approved, what a client executes, and what nobody asked for', async ({
      session,
    }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'approval'), newCall('c', 'client')]);
      equal(await session.start(runId, 1, 'a'), { kind: 'refused' });
      equal(await session.start(runId, 1, 'c'), { kind: 'refused' });
      equal(await session.start(runId, 1, 'invented'), { kind: 'refused' });
    });

    it('permits an approved call once, with the decision it rests on', async ({
      store,
      session,
    }) => {
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

    it('refuses an approved call until the last answer of its batch', async ({
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

    it('of a denied call finds it settled', async ({ session }) => {
      const { runId } = await session.newRun();
      await session.ask(runId, 1, [newCall('a', 'approval')]);
      await session.decide(runId, 'a', false);
      equal(await session.start(runId, 1, 'a'), { kind: 'settled' });
    });

    it('pauses when the last busy call turns out to have an unknown outcome', async ({
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
