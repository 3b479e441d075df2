import { ok } from 'node:assert/strict';
import { equal, includes } from '../../store/conformance/assertions.js';
import { server, userMessage } from '../../store/conformance/fixtures.js';
import { drive } from '../../store/conformance/session-driver.js';
import {
  begin,
  childAt,
  grow,
  heldCall,
  newSubAgent,
  settleChild,
} from '../../store/conformance/tree.js';
import { it } from './rules.js';

describe('a sub-agent', () => {
  it('a sub-agent keeps the conversation active until it pauses, then pauses it and is answered there', async (setup) => {
    const { store } = setup;
    const tree = await grow(setup, 1, () => []);
    const { driver, ref } = childAt(tree, 0);
    includes(await tree.root.record(), { status: 'running', stream: 'active' });
    await driver.ask(ref.runId, 1, [heldCall(ref.runId, 'a')]);
    includes(await tree.root.record(), {
      status: 'waiting_children',
      stream: 'paused',
    });
    includes(await driver.record(), {
      owner: 'ann',
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
    equal(Object.keys(await tree.root.pending()), ['a']);
    includes(await store.calls.suspension(tree.root.id), {
      kind: 'suspended_awaiting_children',
      toolCallIds: ['a'],
    });
    includes(await tree.root.call('a'), { spec: { runId: ref.runId } });
    equal(await tree.root.decide(tree.runId, 'a', true), { kind: 'stale_run' });
    const resume = { step: 1, approved: ['a'] };
    includes(await tree.root.decide(ref.runId, 'a', true), { kind: 'stored', resume });
    equal(await tree.root.decide(ref.runId, 'a', true), { kind: 'already_completed' });
    const record = await tree.root.record();
    includes(record, {
      status: 'running',
      stream: 'active',
      wakes: [{ sessionId: driver.id, runId: ref.runId, resume }],
    });
    equal(record?.resume, undefined);
    // The tool acts for who wrote the message to the conversation.
    const [requester] = record?.askers ?? [];
    ok(requester !== undefined);
    includes(await driver.start(ref.runId, 1, 'a'), { kind: 'execute', shownIn: 1, requester });
    equal((await tree.root.record())?.wakes, undefined);
    await driver.finishCall(ref.runId, 1, 'a', 'ok');
    includes(await driver.record(), { resume, resumeTaken: true });
    includes(await driver.claim(driver.writer(ref.runId, 2, 1)), {
      kind: 'claimed',
      rowCount: 3,
    });
    equal((await driver.record())?.resume, undefined);
    includes(await driver.commit(driver.writer(ref.runId, 2, 1)), { kind: 'committed' });
    includes(await driver.record(), { status: 'completed' });
    includes(await tree.root.record(), { status: 'running', stream: 'active' });
    includes(await settleChild(setup, tree.root, tree.runId, 'd1'), { kind: 'stored' });
    equal(await settleChild(setup, tree.root, tree.runId, 'd1'), { kind: 'already_completed' });
    includes(await tree.root.claim(tree.root.writer(tree.runId, 2, 1)), { kind: 'claimed' });
  });

  it('a waiting message withdraws what a sub-agent would ask, with its run', async (setup) => {
    const tree = await grow(setup, 2, (runId) => [heldCall(runId, 'r')]);
    const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
    const policy = { policy: 'queue', withdraws: tree.runId } as const;
    await tree.root.begin({ messages: [userMessage('u2')], ...policy });
    await one.driver.ask(one.ref.runId, 1, [heldCall(one.ref.runId, 'a')]);
    includes(await tree.root.record(), { status: 'running', stream: 'active' });
    const asked = await two.driver.ask(two.ref.runId, 1, [server('c')]);
    includes(asked, { kind: 'committed' });
    await two.driver.start(two.ref.runId, 1, 'c');
    await two.driver.finishCall(two.ref.runId, 1, 'c', 'ok');
    await two.driver.ask(two.ref.runId, 2, [heldCall(two.ref.runId, 'd')]);
    includes(await tree.root.record(), { status: 'interrupted', stream: 'ended', queued: 1 });
    for (const { driver } of [one, two]) includes(await driver.record(), { status: 'interrupted' });
    equal(await tree.root.messages('tool_approval_request'), []);
    includes(await tree.root.beginNext(), { kind: 'begun' });
  });

  it('a sub-agent waits for the last answer in the conversation, then all continue', async (setup) => {
    const tree = await grow(setup, 2, (runId) => [heldCall(runId, 'r')]);
    const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
    await one.driver.ask(one.ref.runId, 1, [heldCall(one.ref.runId, 'a')]);
    // No question has been asked yet.
    equal(await tree.root.pending(), {});
    equal((await setup.store.waiting.page({ owner: 'ann' }, { limit: 1 })).sessions, []);
    equal(await tree.root.decide(tree.runId, 'r', true), { kind: 'not_pending' });
    equal(await tree.root.messages('tool_approval_request'), []);
    await two.driver.ask(two.ref.runId, 1, [heldCall(two.ref.runId, 'c', 'client')]);
    includes(await tree.root.record(), {
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
    const rows = await tree.root.rows();
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
    // Its calls are answered, but it still waits for its siblings.
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
    equal((await tree.root.record())?.wakes, undefined);
    includes(await tree.root.rows(rows.length), [
      { role: 'tool', toolCallId: 'a', denied: true, display: true },
      { role: 'tool', toolCallId: 'c', output: 1, display: true },
    ]);
  });

  it('a sub-agent asks again at the next pause, while others are still active', async (setup) => {
    const tree = await grow(setup, 2, () => []);
    const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
    await one.driver.ask(one.ref.runId, 1, [heldCall(one.ref.runId, 'a')]);
    await two.driver.ask(two.ref.runId, 1, [heldCall(two.ref.runId, 'b', 'client')]);
    await tree.root.decide(one.ref.runId, 'a', false);
    await tree.root.answer(two.ref.runId, 'b', { output: 1 });
    await one.driver.ask(one.ref.runId, 2, [heldCall(one.ref.runId, 'a2')]);
    // The sibling may continue but has not done so yet.
    includes(await tree.root.record(), { status: 'running', stream: 'active' });
    await two.driver.ask(two.ref.runId, 2, []);
    await settleChild(setup, tree.root, tree.runId, 'd2');
    includes(await tree.root.record(), {
      status: 'waiting_children',
      stream: 'paused',
    });
    equal(Object.keys(await tree.root.pending()), ['a2']);
    equal((await tree.root.messages('run_paused')).length, 2);
  });

  it('a sub-agent gives signs of life of its conversation', async (setup) => {
    const { steps, calls } = setup.store;
    const tree = await grow(setup, 1, () => []);
    const { driver, ref } = childAt(tree, 0);
    let now = Date.now();
    const isSeenFrom = async (change: (now: number) => Promise<unknown>): Promise<void> => {
      now += 60_000;
      await change(now);
      equal((await tree.root.record())?.updatedAt, now);
    };
    const writer = driver.writer(ref.runId, 1, 1);
    await isSeenFrom((now) => steps.claim({ writer, known: 0, now }));
    const asked = [heldCall(ref.runId, 'a', 'approval', { deadlineMs: 60_000 })];
    await driver.commit(writer, { calls: asked });
    const of = { sessionId: tree.root.id, runId: ref.runId, toolCallId: 'a' };
    await isSeenFrom((now) => calls.extendDeadline({ ...of, byMs: 1, deadline: 0, now }));
    await isSeenFrom((now) => tree.root.decide(ref.runId, 'a', true, { now }));
  });

  it('a sub-agent has deadlines that count from the pause', async (setup) => {
    const tree = await grow(setup, 1, () => []);
    const { driver, ref } = childAt(tree, 0);
    await driver.ask(ref.runId, 1, [heldCall(ref.runId, 'c', 'client', { deadlineMs: 1 })]);
    ok(((await tree.root.call('c'))?.deadline ?? Infinity) < Infinity);
    let result = await driver.expire(ref.runId, 'c');
    while (result.kind === 'not_due') result = await driver.expire(ref.runId, 'c');
    includes(result, { kind: 'stored', resume: { step: 1, approved: [] } });
    // A client's result replaces the timeout until the sub-agent has read the timeout.
    includes(await tree.root.answer(ref.runId, 'c', { output: 'late' }), { kind: 'stored' });
    includes(await driver.claim(driver.writer(ref.runId, 2, 1)), { rowCount: 3 });
    includes(await driver.rows(2), [{ output: 'late' }]);
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
    const before = await tree.root.call('y');
    // The first sub-agent's own sub-agent is lost, so the first one continues and ends.
    await settleChild(setup, one.driver, one.ref.runId, 'e1');
    await one.driver.ask(one.ref.runId, 2, []);
    await settleChild(setup, tree.root, tree.runId, 'd1');
    equal((await tree.root.messages('run_paused')).length, 2);
    equal(await tree.root.call('y'), before);
  });

  it('a sub-agent is refused for any other call, run or name', async (setup) => {
    const { session } = setup;
    const { runId } = await session.newRun();
    const { call, child } = newSubAgent(session.id, 'd1');
    const other = newSubAgent(session.id, 'd1').child;
    await session.ask(runId, 1, [call, server('s')]);
    equal(await settleChild(setup, session, runId, 's'), { kind: 'kind_mismatch' });
    const refused = { kind: 'refused' };
    equal(await begin(setup, session, runId, 's', child), refused);
    equal(await begin(setup, session, runId, 'none', child), refused);
    equal(await begin(setup, session, runId, 'd1', other), refused);
    const elsewhere = { ...child, sessionId: other.sessionId };
    equal(await begin(setup, session, runId, 'd1', elsewhere), refused);
    equal(await begin(setup, session, runId, 'd1', { ...child, agent: 'x' }), refused);
    equal(
      await begin(setup, session, runId, 'd1', { ...child, runId: `${child.runId}x` }),
      refused,
    );
    const superseded = { kind: 'superseded' };
    equal(await begin(setup, session, `${session.id}:9-x`, 'd1', child), superseded);
    await session.end(runId, 'failed');
    equal(await begin(setup, session, runId, 'd1', child), superseded);
  });

  it('a sub-agent is refused once its call is settled', async (setup) => {
    const { store, session } = setup;
    const { call, child } = newSubAgent(session.id, 'd1');
    const { runId } = await session.asked(call);
    includes(await settleChild(setup, session, runId, 'd1'), { kind: 'stored' });
    equal(await begin(setup, session, runId, 'd1', child), { kind: 'refused' });
    equal(await store.sessions.read(child.sessionId), undefined);
  });

  it('a sub-agent is one of at most a hundred in a run', async (setup) => {
    const { session, store } = setup;
    const { runId } = await session.newRun({ tenant: 'acme' });
    const made = Array.from({ length: 101 }, (_, n) => newSubAgent(session.id, `d${String(n)}`));
    await session.ask(
      runId,
      1,
      made.map(({ call }) => call),
    );
    const kinds: string[] = [];
    for (const { call, child } of made) {
      kinds.push((await begin(setup, session, runId, call.toolCallId, child)).kind);
    }
    equal(kinds, [...Array<string>(100).fill('begun'), 'limit']);
    const last = made.at(-1);
    ok(last !== undefined);
    equal(await begin(setup, session, runId, 'd100', last.child), { kind: 'limit' });
    includes(await store.sessions.read(last.child.sessionId), {
      tenant: 'acme',
      status: 'failed',
      error: { code: 'subagent_limit' },
    });
  });

  it('a sub-agent gets no call id that its conversation has used', async ({ store, session }) => {
    const row = { role: 'tool' as const, toolCallId: 'old', toolName: 't', error: 'x' };
    const { runId } = await session.asked(server('old', { row }));
    await session.ask(runId, 2, [newSubAgent(session.id, 'd1').call]);
    const own = { sessionId: session.id, runId, call: '3 old', wanted: 'old' };
    equal(await store.calls.takeId(own), { kind: 'taken', id: 'old_1' });
  });
});

describe('a sub-agent', () => {
  it('a sub-agent ends with its conversation, and every call is settled once', async (setup) => {
    const tree = await grow(setup, 2, (runId) => [heldCall(runId, 'r')]);
    const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
    await one.driver.ask(one.ref.runId, 1, [server('s'), heldCall(one.ref.runId, 'a')]);
    // The conversation shows no calls of sub-agents but those that it asked about.
    equal('shownIn' in (await one.driver.start(one.ref.runId, 1, 's')), false);
    const writer = two.driver.writer(two.ref.runId, 1, 1);
    await two.driver.claim(writer);
    includes(await tree.root.stop(), { kind: 'ended', runId: tree.runId });
    includes(await one.driver.record(), { status: 'interrupted' });
    includes(await two.driver.record(), { status: 'interrupted' });
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
      (await tree.root.rows(2)).map((row) => 'toolCallId' in row && row.toolCallId),
      ['d1', 'd2', 'r'],
    );
    equal(
      (await one.driver.rows(2)).map((row) => 'errorCode' in row && row.errorCode),
      ['tool_outcome_unknown', 'run_stopped'],
    );
    equal(await settleChild(setup, tree.root, tree.runId, 'd1'), { kind: 'already_completed' });
  });

  it('a sub-agent adds its usage to the run of its parent, however it ended', async (setup) => {
    const tree = await grow(setup, 2, () => []);
    const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
    const usage = { inputTokens: 10, outputTokens: 2, costMicroUsd: 5 };
    for (const { driver, ref } of [one, two]) {
      const writer = driver.writer(ref.runId, 1, 1);
      await driver.claim(writer);
      await driver.commit(writer, { usage, final: { status: 'completed' } });
    }
    equal((await tree.root.record())?.usage, undefined);
    await settleChild(setup, tree.root, tree.runId, 'd1');
    await settleChild(setup, tree.root, tree.runId, 'd1');
    includes(await tree.root.record(), { usage });
    await tree.root.stop();
    const both = { inputTokens: 20, outputTokens: 4, costMicroUsd: 10 };
    includes(await tree.root.runs(), [{ status: 'interrupted', usage: both }]);
  });

  it('a sub-agent that ends with its conversation adds also what those below it have used', async (setup) => {
    const tree = await grow(setup, 1, () => []);
    const { driver, ref } = childAt(tree, 0);
    const { call, child } = newSubAgent(driver.id, 'e1');
    const usage = { inputTokens: 10, outputTokens: 2, costMicroUsd: 5 };
    const writer = driver.writer(ref.runId, 1, 1);
    await driver.claim(writer);
    await driver.commit(writer, { usage, calls: [call] });
    await begin(setup, driver, ref.runId, 'e1', child);
    const below = drive(setup, child.sessionId);
    const deepest = below.writer(child.runId, 1, 1);
    await below.claim(deepest);
    await below.commit(deepest, { usage, calls: [server('s')] });
    await tree.root.end(tree.runId, 'completed');
    const both = { inputTokens: 20, outputTokens: 4, costMicroUsd: 10 };
    includes(await tree.root.runs(), [{ status: 'completed', usage: both }]);
    includes(
      [await driver.record(), await below.record()],
      Array(2).fill({ status: 'interrupted' }),
    );
  });

  it('a sub-agent that is lost after its questions were answered has nothing to wake', async (setup) => {
    const tree = await grow(setup, 1, () => []);
    const { driver, ref } = childAt(tree, 0);
    await driver.ask(ref.runId, 1, [heldCall(ref.runId, 'a')]);
    await tree.root.decide(ref.runId, 'a', true);
    includes((await tree.root.record())?.wakes, [{ runId: ref.runId }]);
    await settleChild(setup, tree.root, tree.runId, 'd1');
    equal((await tree.root.record())?.wakes, undefined);
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
    equal((await tree.root.record())?.waitsUntil, undefined);
  });

  it('a sub-agent that is asked to stop stops the conversation', async (setup) => {
    const tree = await grow(setup, 1, () => []);
    const { driver, ref } = childAt(tree, 0);
    await driver.claim(driver.writer(ref.runId, 1, 1));
    equal(await driver.stop({ runId: `${ref.runId}x` }), { kind: 'nothing' });
    includes(await driver.stop({ runId: ref.runId }), { kind: 'ended', runId: tree.runId });
    includes(await tree.root.record(), { status: 'interrupted' });
    equal(await driver.stop({ runId: ref.runId }), { kind: 'nothing' });
  });

  it('a sub-agent is abandoned by a new message while people are asked', async (setup) => {
    const tree = await grow(setup, 1, () => []);
    const { driver, ref } = childAt(tree, 0);
    await driver.ask(ref.runId, 1, [heldCall(ref.runId, 'a'), heldCall(ref.runId, 'c', 'client')]);
    await tree.root.answer(ref.runId, 'c', { output: 1 });
    const next = await tree.root.newRun();
    includes(next, { supersededRunId: tree.runId, turn: 2 });
    includes(await driver.record(), { status: 'interrupted' });
    includes(await tree.root.messages('tool_end'), [
      { toolCallId: 'a', agentId: tree.root.id, step: 1, errorCode: 'client_tool_abandoned' },
      { toolCallId: 'd1', errorCode: 'client_tool_abandoned' },
    ]);
    equal(await tree.root.decide(ref.runId, 'a', true), { kind: 'already_completed' });
  });

  it('a sub-agent may be lost while it waits; its parent then continues', async (setup) => {
    const tree = await grow(setup, 1, () => []);
    const { driver, ref } = childAt(tree, 0);
    await driver.ask(ref.runId, 1, [heldCall(ref.runId, 'a', 'approval', { deadlineMs: 60_000 })]);
    await driver.end(ref.runId, 'failed', {
      error: { code: 'framework_subagent_lost', message: 'lost', retryable: false },
    });
    includes(await tree.root.record(), { stream: 'paused' });
    equal((await tree.root.record())?.deadline, undefined);
    includes(await settleChild(setup, tree.root, tree.runId, 'd1'), { kind: 'stored' });
    includes(await tree.root.record(), { status: 'running', stream: 'active' });
    includes(await tree.root.claim(tree.root.writer(tree.runId, 2, 1)), { kind: 'claimed' });
  });

  it('a sub-agent that is lost while active ends with its call and writes nothing more', async (setup) => {
    const tree = await grow(setup, 1, () => []);
    const { driver, ref } = childAt(tree, 0);
    const writer = driver.writer(ref.runId, 1, 1);
    await driver.claim(writer);
    includes(await settleChild(setup, tree.root, tree.runId, 'd1'), { kind: 'stored' });
    includes(await driver.record(), { status: 'failed' });
    equal(await driver.say(writer, 1, 'late'), { kind: 'superseded' });
    equal(await driver.commit(writer), { kind: 'superseded' });
  });

  it('a sub-agent may have sub-agents, which pause and end with it', async (setup) => {
    const tree = await grow(setup, 2, () => []);
    const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
    const { call, child } = newSubAgent(one.driver.id, 'e1');
    await one.driver.ask(one.ref.runId, 1, [call]);
    equal(await begin(setup, one.driver, one.ref.runId, 'e1', child), { kind: 'begun' });
    const below = drive(setup, child.sessionId);
    await below.ask(child.runId, 1, [heldCall(child.runId, 'x')]);
    includes(await one.driver.record(), { status: 'waiting_children' });
    includes(await tree.root.record(), { stream: 'active' });
    await two.driver.ask(two.ref.runId, 1, [heldCall(two.ref.runId, 'y')]);
    includes(await tree.root.record(), { stream: 'paused' });
    equal(Object.keys(await tree.root.pending()), ['x', 'y']);
    // Its own sub-agent is lost, so it continues although its sibling waits.
    await below.end(child.runId, 'failed');
    await settleChild(setup, one.driver, one.ref.runId, 'e1');
    includes(await tree.root.record(), { stream: 'active' });
    includes(await one.driver.claim(one.driver.writer(one.ref.runId, 2, 1)), { kind: 'claimed' });
    await one.driver.commit(one.driver.writer(one.ref.runId, 2, 1));
    await settleChild(setup, tree.root, tree.runId, 'd1');
    includes(await tree.root.record(), {
      status: 'waiting_children',
      stream: 'paused',
    });
    includes(await tree.root.decide(two.ref.runId, 'y', true), { resume: { approved: ['y'] } });
    await tree.root.end(tree.runId, 'failed');
    includes(await two.driver.record(), { status: 'failed' });
  });
});
