import { equal, includes } from '../assertions.js';
import { newCall } from '../fixtures.js';
import { drive } from '../session-driver.js';
import type { Suite } from '../suite.js';
import { begin, childAt, grow, heldCall, newSubAgent, settleChild } from '../tree.js';

export function subAgentEndCases({ describe, it }: Suite): void {
  describe('a sub-agent', () => {
    it('a sub-agent ends with its conversation, and every call is settled once', async (setup) => {
      const { store } = setup;
      const tree = await grow(setup, 2, (runId) => [heldCall(runId, 'r')]);
      const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
      await one.driver.ask(one.ref.runId, 1, [
        newCall('s', 'server'),
        heldCall(one.ref.runId, 'a'),
      ]);
      await one.driver.start(one.ref.runId, 1, 's');
      const writer = two.driver.writer(two.ref.runId, 1, 1);
      await two.driver.claim(writer);
      includes(await tree.root.stop(), { kind: 'ended', runId: tree.runId });
      includes(await store.sessions.read(one.driver.id), { status: 'interrupted' });
      includes(await store.sessions.read(two.driver.id), { status: 'interrupted' });
      equal(await two.driver.say(writer, 1, 'late'), { kind: 'superseded' });
      equal(await two.driver.commit(writer), { kind: 'superseded' });
      equal(await one.driver.start(one.ref.runId, 1, 's', 2), { kind: 'settled' });
      equal(
        (await tree.root.messages('tool_end')).map(({ toolCallId, errorCode }) => [
          toolCallId,
          errorCode,
        ]),
        [
          // A call that was never shown needs no end.
          ['s', 'tool_outcome_unknown'],
          ['d1', 'run_stopped'],
          ['d2', 'run_stopped'],
        ],
      );
      equal(
        (await store.sessions.rows(tree.root.id, 2)).map(
          (row) => 'toolCallId' in row && row.toolCallId,
        ),
        ['d1', 'd2', 'r'],
      );
      equal(
        (await store.sessions.rows(one.driver.id, 2)).map(
          (row) => 'errorCode' in row && row.errorCode,
        ),
        ['tool_outcome_unknown', 'run_stopped'],
      );
      equal(await settleChild(setup, tree.root, tree.runId, 'd1'), { kind: 'already_completed' });
    });

    it('a sub-agent adds its usage to the run of its parent, however it ended', async (setup) => {
      const { store } = setup;
      const tree = await grow(setup, 2, () => []);
      const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
      const usage = { inputTokens: 10, outputTokens: 2, costMicroUsd: 5 };
      for (const { driver, ref } of [one, two]) {
        const writer = driver.writer(ref.runId, 1, 1);
        await driver.claim(writer);
        await driver.commit(writer, { usage, final: { status: 'completed' } });
      }
      equal((await store.sessions.read(tree.root.id))?.usage, undefined);
      await settleChild(setup, tree.root, tree.runId, 'd1');
      await settleChild(setup, tree.root, tree.runId, 'd1');
      includes(await store.sessions.read(tree.root.id), { usage });
      await tree.root.stop();
      const both = { inputTokens: 20, outputTokens: 4, costMicroUsd: 10 };
      includes(await store.runs.list(tree.root.id), [{ status: 'interrupted', usage: both }]);
    });

    it('a sub-agent that ends while it waits for its provider leaves no wait behind', async (setup) => {
      const { store } = setup;
      const tree = await grow(setup, 1, () => []);
      const { driver, ref } = childAt(tree, 0);
      const writer = driver.writer(ref.runId, 1, 1);
      await driver.claim(writer);
      await store.steps.discard({ writer, failure: 1, reason: 'x', waitMs: 60_000, now: 1 });
      await driver.end(ref.runId, 'failed');
      await settleChild(setup, tree.root, tree.runId, 'd1');
      includes(await tree.root.claim(tree.root.writer(tree.runId, 2, 1)), { kind: 'claimed' });
      equal((await store.sessions.read(tree.root.id))?.waitsUntil, undefined);
    });

    it('a sub-agent that is asked to stop stops the conversation', async (setup) => {
      const { store } = setup;
      const tree = await grow(setup, 1, () => []);
      const { driver, ref } = childAt(tree, 0);
      equal(await driver.stop({ runId: `${ref.runId}x` }), { kind: 'nothing' });
      includes(await driver.stop({ runId: ref.runId }), { kind: 'ended', runId: tree.runId });
      includes(await store.sessions.read(tree.root.id), { status: 'interrupted' });
      equal(await driver.stop({ runId: ref.runId }), { kind: 'nothing' });
    });

    it('a sub-agent is abandoned by a new message while people are asked', async (setup) => {
      const { store } = setup;
      const tree = await grow(setup, 1, () => []);
      const { driver, ref } = childAt(tree, 0);
      await driver.ask(ref.runId, 1, [
        heldCall(ref.runId, 'a'),
        heldCall(ref.runId, 'c', 'client'),
      ]);
      await tree.root.answer(ref.runId, 'c', { output: 1 });
      const next = await tree.root.newRun();
      includes(next, { supersededRunId: tree.runId, turn: 2 });
      includes(await store.sessions.read(driver.id), { status: 'interrupted' });
      includes(await tree.root.messages('tool_end'), [
        { toolCallId: 'a', agentId: tree.root.id, step: 1, errorCode: 'client_tool_abandoned' },
        { toolCallId: 'd1', errorCode: 'client_tool_abandoned' },
      ]);
      equal(await tree.root.decide(ref.runId, 'a', true), { kind: 'already_completed' });
    });

    it('a sub-agent may be lost while it waits; its parent then continues', async (setup) => {
      const { store } = setup;
      const tree = await grow(setup, 1, () => []);
      const { driver, ref } = childAt(tree, 0);
      await driver.ask(ref.runId, 1, [heldCall(ref.runId, 'a')]);
      await driver.end(ref.runId, 'failed', {
        error: { code: 'framework_subagent_lost', message: 'lost', retryable: false },
      });
      includes(await store.sessions.read(tree.root.id), { stream: 'paused' });
      includes(await settleChild(setup, tree.root, tree.runId, 'd1'), { kind: 'stored' });
      includes(await store.sessions.read(tree.root.id), { status: 'running', stream: 'active' });
      includes(await tree.root.claim(tree.root.writer(tree.runId, 2, 1)), { kind: 'claimed' });
    });

    it('a sub-agent that is lost while active ends with its call and writes nothing more', async (setup) => {
      const { store } = setup;
      const tree = await grow(setup, 1, () => []);
      const { driver, ref } = childAt(tree, 0);
      const writer = driver.writer(ref.runId, 1, 1);
      await driver.claim(writer);
      includes(await settleChild(setup, tree.root, tree.runId, 'd1'), { kind: 'stored' });
      includes(await store.sessions.read(driver.id), { status: 'failed' });
      equal(await driver.say(writer, 1, 'late'), { kind: 'superseded' });
      equal(await driver.commit(writer), { kind: 'superseded' });
    });

    it('a sub-agent may have sub-agents, which pause and end with it', async (setup) => {
      const { store } = setup;
      const tree = await grow(setup, 2, () => []);
      const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
      const { call, child } = newSubAgent(one.driver.id, 'e1');
      await one.driver.ask(one.ref.runId, 1, [call]);
      equal(await begin(setup, one.driver, one.ref.runId, 'e1', child), { kind: 'begun' });
      const below = drive(setup, child.sessionId);
      await below.ask(child.runId, 1, [heldCall(child.runId, 'x')]);
      includes(await store.sessions.read(one.driver.id), { status: 'waiting_children' });
      includes(await store.sessions.read(tree.root.id), { stream: 'active' });
      await two.driver.ask(two.ref.runId, 1, [heldCall(two.ref.runId, 'y')]);
      includes(await store.sessions.read(tree.root.id), { stream: 'paused' });
      equal(Object.keys(await store.calls.pending(tree.root.id)), ['x', 'y']);
      // Its own sub-agent is lost: it continues although the other one waits.
      await below.end(child.runId, 'failed');
      await settleChild(setup, one.driver, one.ref.runId, 'e1');
      includes(await store.sessions.read(tree.root.id), { stream: 'active' });
      includes(await one.driver.claim(one.driver.writer(one.ref.runId, 2, 1)), { kind: 'claimed' });
      await one.driver.commit(one.driver.writer(one.ref.runId, 2, 1));
      await settleChild(setup, tree.root, tree.runId, 'd1');
      includes(await store.sessions.read(tree.root.id), {
        status: 'waiting_children',
        stream: 'paused',
      });
      includes(await tree.root.decide(two.ref.runId, 'y', true), { resume: { approved: ['y'] } });
      await tree.root.end(tree.runId, 'failed');
      includes(await store.sessions.read(two.driver.id), { status: 'failed' });
    });
  });
}
