import { ok } from 'node:assert/strict';
import { equal, includes } from '../assertions.js';
import { drive } from '../session-driver.js';
import type { Suite } from '../suite.js';
import { begin, childAt, grow, heldCall, newSubAgent, settleChild } from '../tree.js';

export function subAgentAnswerCases({ describe, it }: Suite): void {
  describe('a sub-agent', () => {
    it('a sub-agent keeps the conversation active until it pauses, then pauses it and is answered there', async (setup) => {
      const { store } = setup;
      const tree = await grow(setup, 1, () => []);
      const { driver, ref } = childAt(tree, 0);
      includes(await store.sessions.read(tree.root.id), { status: 'running', stream: 'active' });
      await driver.ask(ref.runId, 1, [heldCall(ref.runId, 'a')]);
      includes(await store.sessions.read(tree.root.id), {
        status: 'waiting_children',
        stream: 'paused',
      });
      includes(await store.sessions.read(driver.id), {
        status: 'waiting_approval',
        stream: 'paused',
      });
      const waiting = { subSessionId: driver.id, subAgentType: 'helper', callId: 'd1' };
      includes(await tree.root.messages('suspension_marker'), [
        { kind: 'suspended_awaiting_children', payload: { children: [waiting] } },
      ]);
      includes(await tree.root.messages('run_paused'), [
        { agentId: tree.root.id, reason: 'awaiting_children', pendingToolCallId: 'a' },
      ]);
      equal(Object.keys(await store.calls.pending(tree.root.id)), ['a']);
      includes(await store.calls.suspension(tree.root.id), {
        kind: 'suspended_awaiting_children',
        toolCallIds: ['a'],
      });
      includes(await store.calls.read(tree.root.id, 'a'), { spec: { runId: ref.runId } });
      equal(await tree.root.decide(tree.runId, 'a', true), { kind: 'stale_run' });
      const resume = { step: 1, approved: ['a'] };
      includes(await tree.root.decide(ref.runId, 'a', true), { kind: 'stored', resume });
      equal(await tree.root.decide(ref.runId, 'a', true), { kind: 'already_completed' });
      const record = await store.sessions.read(tree.root.id);
      includes(record, {
        status: 'running',
        stream: 'active',
        wakes: [{ sessionId: driver.id, runId: ref.runId, resume }],
      });
      equal(record?.resume, undefined);
      includes(await driver.start(ref.runId, 1, 'a'), { kind: 'execute', shownIn: 1 });
      equal((await store.sessions.read(tree.root.id))?.wakes, undefined);
      await driver.finishCall(ref.runId, 1, 'a', 'ok');
      includes(await driver.claim(driver.writer(ref.runId, 2, 1)), {
        kind: 'claimed',
        rowCount: 3,
      });
      includes(await driver.commit(driver.writer(ref.runId, 2, 1)), { kind: 'committed' });
      includes(await store.sessions.read(driver.id), { status: 'completed' });
      includes(await store.sessions.read(tree.root.id), { status: 'running', stream: 'active' });
      includes(await settleChild(setup, tree.root, tree.runId, 'd1'), { kind: 'stored' });
      equal(await settleChild(setup, tree.root, tree.runId, 'd1'), { kind: 'already_completed' });
      includes(await tree.root.claim(tree.root.writer(tree.runId, 2, 1)), { kind: 'claimed' });
    });

    it('a sub-agent waits for the last answer in the conversation, then all continue', async (setup) => {
      const { store } = setup;
      const tree = await grow(setup, 2, (runId) => [heldCall(runId, 'r')]);
      const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
      await one.driver.ask(one.ref.runId, 1, [heldCall(one.ref.runId, 'a')]);
      // No question has been asked yet.
      equal(await store.calls.pending(tree.root.id), {});
      equal(await tree.root.decide(tree.runId, 'r', true), { kind: 'not_pending' });
      equal(await tree.root.messages('tool_approval_request'), []);
      await two.driver.ask(two.ref.runId, 1, [heldCall(two.ref.runId, 'c', 'client')]);
      includes(await store.sessions.read(tree.root.id), {
        status: 'waiting_approval',
        stream: 'paused',
      });
      const log = await tree.root.log();
      const from = log.findIndex(({ message }) => message.type === 'step_start');
      includes(
        log.slice(from).map(({ message }) => message),
        [
          { type: 'step_start', agentId: tree.root.id, step: 1 },
          { type: 'tool_approval_request', agentId: tree.root.id, step: 1, toolCallId: 'r' },
          { type: 'tool_approval_request', agentId: tree.root.id, step: 1, toolCallId: 'a' },
          { type: 'tool_start', agentId: tree.root.id, step: 1, toolCallId: 'c' },
          { type: 'step_end', agentId: tree.root.id, step: 1 },
          { type: 'suspension_marker', payload: { toolCallIds: ['r', 'a', 'c'] } },
          { type: 'run_paused', reason: 'approval', pendingToolCallId: 'r' },
        ],
      );
      const rows = await store.sessions.rows(tree.root.id, 0);
      includes(rows.at(-1), {
        role: 'assistant',
        display: true,
        step: 1,
        parts: [
          { toolCallId: 'r', approvalId: `${tree.runId}::r` },
          { toolCallId: 'a', approvalId: `${one.ref.runId}::a` },
          { toolCallId: 'c', kind: 'client' },
        ],
      });
      equal((await tree.root.answer(two.ref.runId, 'c', { output: 1 })).kind, 'stored');
      // Its calls are answered, but it still waits for the others.
      equal(await two.driver.claim(two.driver.writer(two.ref.runId, 2, 1)), { kind: 'not_ready' });
      equal((await tree.root.decide(tree.runId, 'r', true)).kind, 'stored');
      equal(await tree.root.start(tree.runId, 1, 'r'), { kind: 'refused' });
      includes(await tree.root.decide(one.ref.runId, 'a', false), {
        kind: 'stored',
        resume: { step: 1, approved: [] },
        others: [
          { runId: tree.runId, resume: { step: 1, approved: ['r'] } },
          { runId: two.ref.runId, resume: { step: 1, approved: [] } },
        ],
      });
      includes(await tree.root.messages('run_resumed'), [
        { agentId: tree.root.id, runId: tree.runId },
      ]);
      includes(await tree.root.start(tree.runId, 1, 'r'), { kind: 'execute' });
      includes(await one.driver.claim(one.driver.writer(one.ref.runId, 2, 1)), { kind: 'claimed' });
      includes(await two.driver.claim(two.driver.writer(two.ref.runId, 2, 1)), { kind: 'claimed' });
      includes(await store.sessions.rows(tree.root.id, rows.length), [
        { role: 'tool', toolCallId: 'a', denied: true, display: true },
        { role: 'tool', toolCallId: 'c', output: 1, display: true },
      ]);
    });

    it('a sub-agent asks again at the next pause, while others are still active', async (setup) => {
      const { store } = setup;
      const tree = await grow(setup, 2, () => []);
      const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
      await one.driver.ask(one.ref.runId, 1, [heldCall(one.ref.runId, 'a')]);
      await two.driver.ask(two.ref.runId, 1, [heldCall(two.ref.runId, 'b', 'client')]);
      await tree.root.decide(one.ref.runId, 'a', false);
      await tree.root.answer(two.ref.runId, 'b', { output: 1 });
      await one.driver.ask(one.ref.runId, 2, [heldCall(one.ref.runId, 'a2')]);
      // The other one may continue but has not done so yet.
      includes(await store.sessions.read(tree.root.id), { status: 'running', stream: 'active' });
      await two.driver.claim(two.driver.writer(two.ref.runId, 2, 1));
      await two.driver.commit(two.driver.writer(two.ref.runId, 2, 1));
      await settleChild(setup, tree.root, tree.runId, 'd2');
      includes(await store.sessions.read(tree.root.id), {
        status: 'waiting_children',
        stream: 'paused',
      });
      equal(Object.keys(await store.calls.pending(tree.root.id)), ['a2']);
      equal((await tree.root.messages('run_paused')).length, 2);
    });

    it('a sub-agent has deadlines that count from the pause', async (setup) => {
      const { store } = setup;
      const tree = await grow(setup, 1, () => []);
      const { driver, ref } = childAt(tree, 0);
      await driver.ask(ref.runId, 1, [heldCall(ref.runId, 'c', 'client', { deadlineMs: 1 })]);
      ok(((await store.calls.read(tree.root.id, 'c'))?.deadline ?? Infinity) < Infinity);
      let result = await driver.expire(ref.runId, 'c');
      while (result.kind === 'not_due') result = await driver.expire(ref.runId, 'c');
      includes(result, { kind: 'stored', resume: { step: 1, approved: [] } });
      // A client's result replaces the timeout until the sub-agent has read that.
      includes(await tree.root.answer(ref.runId, 'c', { output: 'late' }), { kind: 'stored' });
      includes(await driver.claim(driver.writer(ref.runId, 2, 1)), { rowCount: 3 });
      includes(await store.sessions.rows(driver.id, 2), [{ output: 'late' }]);
    });

    it('the sessions of sub-agents are listed, at every depth, until they are erased', async (setup) => {
      const { sessions } = setup.store;
      const tree = await grow(setup, 2, () => []);
      const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
      const { call, child } = newSubAgent(one.driver.id, 'e1');
      await one.driver.ask(one.ref.runId, 1, [call]);
      await begin(setup, one.driver, one.ref.runId, 'e1', child);
      const ids = [one.ref.sessionId, two.ref.sessionId, child.sessionId];
      equal(await sessions.children(tree.root.id), ids.toSorted());
      await sessions.erase(tree.root.id);
      equal(await sessions.children(tree.root.id), []);
    });

    it('a sub-agent keeps its deadlines and questions through a later pause', async (setup) => {
      const { store } = setup;
      const tree = await grow(setup, 2, () => []);
      const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
      const { call, child } = newSubAgent(one.driver.id, 'e1');
      await one.driver.ask(one.ref.runId, 1, [call]);
      await begin(setup, one.driver, one.ref.runId, 'e1', child);
      const below = drive(setup, child.sessionId);
      await below.ask(child.runId, 1, [heldCall(child.runId, 'x')]);
      const asked = heldCall(two.ref.runId, 'y', 'client', { deadlineMs: 60_000 });
      await two.driver.ask(two.ref.runId, 1, [asked]);
      includes(await tree.root.extend(two.ref.runId, 'y', 5_000), { kind: 'extended' });
      const before = await store.calls.read(tree.root.id, 'y');
      // One continues because the agent that it waits for is lost, and ends.
      await settleChild(setup, one.driver, one.ref.runId, 'e1');
      await one.driver.claim(one.driver.writer(one.ref.runId, 2, 1));
      await one.driver.commit(one.driver.writer(one.ref.runId, 2, 1));
      await settleChild(setup, tree.root, tree.runId, 'd1');
      equal((await tree.root.messages('run_paused')).length, 2);
      equal(await store.calls.read(tree.root.id, 'y'), before);
    });
  });
}
