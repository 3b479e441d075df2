import { deepStrictEqual, ok } from 'node:assert/strict';
import { formatApprovalId, formatChildSessionId, rootOf } from '../../../protocol/ids.js';
import type { ChildRef } from '../../../protocol/run.js';
import { equal, includes } from '../assertions.js';
import { AGENT, newCall, newNonce } from '../fixtures.js';
import { drive, type SessionDriver } from '../session-driver.js';
import type { Case, Suite } from '../suite.js';
import type { NewCall } from '../../transitions.js';

/** A sub-agent's call, and who carries it out. */
export function newSubAgent(
  sessionId: string,
  toolCallId: string,
): { call: NewCall; child: ChildRef } {
  const id = formatChildSessionId(rootOf(sessionId), 1, newNonce());
  const child = { sessionId: id, runId: `${id}:1-${newNonce()}`, agent: 'helper', maxSteps: 5 };
  return {
    call: newCall(toolCallId, 'subagent', { child: { ...child, message: `do ${toolCallId}` } }),
    child,
  };
}

/** A call that asks people, kept back until the pause. */
export function heldCall(
  runId: string,
  toolCallId: string,
  kind: 'approval' | 'client' = 'approval',
  extra: Partial<NewCall> = {},
): NewCall {
  const toolName = `${kind}-tool`;
  const base = { agentId: rootOf(runId.slice(0, runId.lastIndexOf(':'))), agentType: AGENT };
  const input = { of: toolCallId };
  return newCall(toolCallId, kind, {
    ask: {
      ...base,
      step: 99,
      timestamp: 1,
      toolCallId,
      toolName,
      ...(kind === 'approval'
        ? {
            type: 'tool_approval_request' as const,
            approvalId: formatApprovalId(runId, toolCallId),
            input,
          }
        : { type: 'tool_start' as const, arguments: input }),
    },
    ...extra,
  });
}

interface Tree {
  root: SessionDriver;
  runId: string;
  children: { driver: SessionDriver; ref: ChildRef; callId: string }[];
}

/** A conversation whose first step has sub-agents d1, d2, … and these calls of its own. */
async function grow(given: Case, count: number, own: (runId: string) => NewCall[]): Promise<Tree> {
  const { session } = given;
  const { runId } = await session.newRun();
  const made = Array.from({ length: count }, (_, n) =>
    newSubAgent(session.id, `d${String(n + 1)}`),
  );
  await session.ask(runId, 1, [...made.map(({ call }) => call), ...own(runId)]);
  const children = await Promise.all(
    made.map(async ({ call, child }) => {
      await begin(given, session, runId, call.toolCallId, child);
      return { driver: drive(given, child.sessionId), ref: child, callId: call.toolCallId };
    }),
  );
  return { root: session, runId, children };
}

function begin(
  { store }: Case,
  parent: SessionDriver,
  runId: string,
  toolCallId: string,
  child: ChildRef,
): ReturnType<Case['store']['beginChild']> {
  const above = { sessionId: parent.id, runId, toolCallId };
  return store.beginChild({ child, parent: above, now: Date.now() });
}

function settleChild(
  { store }: Case,
  parent: SessionDriver,
  runId: string,
  toolCallId: string,
): ReturnType<Case['store']['settleCall']> {
  return store.settleCall({
    source: 'child',
    sessionId: parent.id,
    agentType: AGENT,
    toolCallId,
    runId,
    row: { role: 'tool', toolCallId, toolName: 'subagent-tool', output: 'done' },
    chunks: [],
    now: Date.now(),
  });
}

/** The child of a tree. */
function childAt(tree: Tree, at: number): Tree['children'][number] {
  const child = tree.children[at];
  ok(child !== undefined);
  return child;
}

export function subAgentCases({ describe, it }: Suite): void {
  describe('a sub-agent', () => {
    it('is made of the call that it carries out, once', async (given) => {
      const { store, session } = given;
      const { runId } = await session.newRun();
      const { call, child } = newSubAgent(session.id, 'd1');
      await session.ask(runId, 1, [call]);
      equal(await begin(given, session, runId, 'd1', child), { kind: 'begun' });
      equal(await begin(given, session, runId, 'd1', child), { kind: 'begun' });
      // No tool carries it out.
      equal(await session.start(runId, 1, 'd1'), { kind: 'refused' });
      includes(await store.readRecord(child.sessionId), {
        agent: 'helper',
        owner: 'ann',
        runId: child.runId,
        status: 'starting',
        parent: { sessionId: session.id, runId, toolCallId: 'd1' },
      });
      equal(await store.readRows(child.sessionId, 0), [
        { role: 'user', id: 'd1', parts: [{ type: 'text', text: 'do d1' }] },
      ]);
      includes(await session.messages('subagent_start'), [
        {
          agentId: session.id,
          subAgentType: 'helper',
          subSessionId: child.sessionId,
          callId: 'd1',
        },
      ]);
    });

    it('is refused for any other call, run or name', async (given) => {
      const { session } = given;
      const { runId } = await session.newRun();
      const { call, child } = newSubAgent(session.id, 'd1');
      const other = newSubAgent(session.id, 'd1').child;
      await session.ask(runId, 1, [call, newCall('s', 'server')]);
      const refused = { kind: 'refused' };
      equal(await begin(given, session, runId, 's', child), refused);
      equal(await begin(given, session, runId, 'none', child), refused);
      equal(await begin(given, session, runId, 'd1', other), refused);
      equal(await begin(given, session, runId, 'd1', { ...child, agent: 'x' }), refused);
      equal(
        await begin(given, session, runId, 'd1', { ...child, runId: `${child.runId}x` }),
        refused,
      );
      const superseded = { kind: 'superseded' };
      equal(await begin(given, session, `${session.id}:9-x`, 'd1', child), superseded);
      await session.end(runId, 'failed');
      equal(await begin(given, session, runId, 'd1', child), superseded);
    });

    it('speaks in the stream of its conversation, numbered with it', async (given) => {
      const tree = await grow(given, 2, () => []);
      const before = await given.streamManager.inspect(tree.root.id);
      for (const { driver, ref } of tree.children) {
        const writer = driver.writer(ref.runId, 1, 1);
        includes(await driver.claim(writer), { kind: 'claimed', rowCount: 1 });
        includes(await driver.say(writer, 1, `I am ${driver.id}`), { kind: 'appended' });
      }
      const entries = await given.streamManager.read(tree.root.id, before?.sequence ?? 0, 100);
      deepStrictEqual(
        entries.map(({ message }) => 'agentId' in message && message.agentId),
        tree.children.map(({ ref }) => ref.sessionId),
      );
      equal(
        await given.streamManager.read(childAt(tree, 0).driver.id, 0, 100),
        await tree.root.log(),
      );
      // A later attempt withdraws its own words only.
      const { driver, ref } = childAt(tree, 0);
      await driver.claim(driver.writer(ref.runId, 1, 2));
      const left = await tree.root.messages('text_delta');
      equal(
        left.map(({ delta }) => delta),
        [`I am ${childAt(tree, 1).driver.id}`],
      );
    });

    it('keeps the conversation active until it rests, then pauses it and is answered there', async (given) => {
      const { store } = given;
      const tree = await grow(given, 1, () => []);
      const { driver, ref } = childAt(tree, 0);
      includes(await store.readRecord(tree.root.id), { status: 'running', stream: 'active' });
      await driver.ask(ref.runId, 1, [heldCall(ref.runId, 'a')]);
      includes(await store.readRecord(tree.root.id), {
        status: 'waiting_children',
        stream: 'paused',
      });
      includes(await store.readRecord(driver.id), { status: 'waiting_approval', stream: 'paused' });
      equal(
        (await tree.root.messages('suspension_marker')).map(({ kind }) => kind),
        ['suspended_awaiting_children'],
      );
      includes(await tree.root.messages('run_paused'), [
        { agentId: tree.root.id, reason: 'awaiting_children', pendingToolCallId: 'a' },
      ]);
      equal(Object.keys(await store.getPendingCalls(tree.root.id)), ['a']);
      includes(await store.getSuspensionContext(tree.root.id), {
        kind: 'suspended_awaiting_children',
        toolCallIds: ['a'],
      });
      includes(await store.readCall(tree.root.id, 'a'), { spec: { runId: ref.runId } });
      equal(await tree.root.decide(tree.runId, 'a', true), { kind: 'stale_run' });
      const resume = { step: 1, approved: ['a'] };
      includes(await tree.root.decide(ref.runId, 'a', true), { kind: 'stored', resume });
      equal(await tree.root.decide(ref.runId, 'a', true), { kind: 'already_completed' });
      const record = await store.readRecord(tree.root.id);
      includes(record, {
        status: 'running',
        stream: 'active',
        wakes: [{ sessionId: driver.id, runId: ref.runId, resume }],
      });
      equal(record?.resume, undefined);
      includes(await driver.start(ref.runId, 1, 'a'), { kind: 'execute', shownIn: 1 });
      equal((await store.readRecord(tree.root.id))?.wakes, undefined);
      await driver.finishCall(ref.runId, 1, 'a', 'ok');
      includes(await driver.claim(driver.writer(ref.runId, 2, 1)), {
        kind: 'claimed',
        rowCount: 3,
      });
      includes(await driver.commit(driver.writer(ref.runId, 2, 1)), { kind: 'committed' });
      includes(await store.readRecord(driver.id), { status: 'completed' });
      includes(await store.readRecord(tree.root.id), { status: 'running', stream: 'active' });
      includes(await settleChild(given, tree.root, tree.runId, 'd1'), { kind: 'stored' });
      equal(await settleChild(given, tree.root, tree.runId, 'd1'), { kind: 'already_completed' });
      includes(await tree.root.claim(tree.root.writer(tree.runId, 2, 1)), { kind: 'claimed' });
    });

    it('waits for the last answer in the conversation, then all go on', async (given) => {
      const { store } = given;
      const tree = await grow(given, 2, (runId) => [heldCall(runId, 'r')]);
      const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
      await one.driver.ask(one.ref.runId, 1, [heldCall(one.ref.runId, 'a')]);
      // Nobody has been asked anything.
      equal(await store.getPendingCalls(tree.root.id), {});
      equal(await tree.root.decide(tree.runId, 'r', true), { kind: 'not_pending' });
      equal(await tree.root.messages('tool_approval_request'), []);
      await two.driver.ask(two.ref.runId, 1, [heldCall(two.ref.runId, 'c', 'client')]);
      includes(await store.readRecord(tree.root.id), {
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
      const rows = await store.readRows(tree.root.id, 0);
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
      // Its calls are answered, and it still waits for the others.
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
      includes(await store.readRows(tree.root.id, rows.length), [
        { role: 'tool', toolCallId: 'a', denied: true, display: true },
        { role: 'tool', toolCallId: 'c', output: 1, display: true },
      ]);
    });

    it('asks again at the next pause, beside what others still do', async (given) => {
      const { store } = given;
      const tree = await grow(given, 2, () => []);
      const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
      await one.driver.ask(one.ref.runId, 1, [heldCall(one.ref.runId, 'a')]);
      await two.driver.ask(two.ref.runId, 1, [heldCall(two.ref.runId, 'b', 'client')]);
      await tree.root.decide(one.ref.runId, 'a', false);
      await tree.root.answer(two.ref.runId, 'b', { output: 1 });
      await one.driver.ask(one.ref.runId, 2, [heldCall(one.ref.runId, 'a2')]);
      // The other one may go on, and has not done so yet.
      includes(await store.readRecord(tree.root.id), { status: 'running', stream: 'active' });
      await two.driver.claim(two.driver.writer(two.ref.runId, 2, 1));
      await two.driver.commit(two.driver.writer(two.ref.runId, 2, 1));
      await settleChild(given, tree.root, tree.runId, 'd2');
      includes(await store.readRecord(tree.root.id), {
        status: 'waiting_children',
        stream: 'paused',
      });
      equal(Object.keys(await store.getPendingCalls(tree.root.id)), ['a2']);
      equal((await tree.root.messages('run_paused')).length, 2);
    });

    it('has deadlines that count from the pause', async (given) => {
      const { store } = given;
      const tree = await grow(given, 1, () => []);
      const { driver, ref } = childAt(tree, 0);
      await driver.ask(ref.runId, 1, [heldCall(ref.runId, 'c', 'client', { deadlineMs: 1 })]);
      ok(((await store.readCall(tree.root.id, 'c'))?.deadline ?? Infinity) < Infinity);
      let result = await driver.expire(ref.runId, 'c');
      while (result.kind === 'not_due') result = await driver.expire(ref.runId, 'c');
      includes(result, { kind: 'stored', resume: { step: 1, approved: [] } });
      // A client's result replaces the timeout until the sub-agent has been told.
      includes(await tree.root.answer(ref.runId, 'c', { output: 'late' }), { kind: 'stored' });
      includes(await driver.claim(driver.writer(ref.runId, 2, 1)), { rowCount: 3 });
      includes(await store.readRows(driver.id, 2), [{ output: 'late' }]);
    });

    it('ends with its conversation, every call settled once', async (given) => {
      const { store } = given;
      const tree = await grow(given, 2, (runId) => [heldCall(runId, 'r')]);
      const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
      await one.driver.ask(one.ref.runId, 1, [
        newCall('s', 'server'),
        heldCall(one.ref.runId, 'a'),
      ]);
      await one.driver.start(one.ref.runId, 1, 's');
      const writer = two.driver.writer(two.ref.runId, 1, 1);
      await two.driver.claim(writer);
      includes(await tree.root.stop(), { kind: 'ended', runId: tree.runId });
      includes(await store.readRecord(one.driver.id), { status: 'interrupted' });
      includes(await store.readRecord(two.driver.id), { status: 'interrupted' });
      equal(await two.driver.say(writer, 1, 'late'), { kind: 'superseded' });
      equal(await two.driver.commit(writer), { kind: 'superseded' });
      equal(await one.driver.start(one.ref.runId, 1, 's', 2), { kind: 'settled' });
      equal(
        (await tree.root.messages('tool_end')).map(({ toolCallId, errorCode }) => [
          toolCallId,
          errorCode,
        ]),
        [
          // What nobody was shown needs no end.
          ['s', 'tool_outcome_unknown'],
          ['d1', 'run_stopped'],
          ['d2', 'run_stopped'],
        ],
      );
      equal(
        (await store.readRows(tree.root.id, 2)).map((row) => 'toolCallId' in row && row.toolCallId),
        ['d1', 'd2', 'r'],
      );
      equal(
        (await store.readRows(one.driver.id, 2)).map((row) => 'errorCode' in row && row.errorCode),
        ['tool_outcome_unknown', 'run_stopped'],
      );
      equal(await settleChild(given, tree.root, tree.runId, 'd1'), { kind: 'already_completed' });
    });

    it('that is told to stop stops the conversation', async (given) => {
      const { store } = given;
      const tree = await grow(given, 1, () => []);
      const { driver, ref } = childAt(tree, 0);
      equal(await driver.stop({ runId: `${ref.runId}x` }), { kind: 'nothing' });
      includes(await driver.stop({ runId: ref.runId }), { kind: 'ended', runId: tree.runId });
      includes(await store.readRecord(tree.root.id), { status: 'interrupted' });
      equal(await driver.stop({ runId: ref.runId }), { kind: 'nothing' });
    });

    it('gives way to a new message while people are asked', async (given) => {
      const { store } = given;
      const tree = await grow(given, 1, () => []);
      const { driver, ref } = childAt(tree, 0);
      await driver.ask(ref.runId, 1, [
        heldCall(ref.runId, 'a'),
        heldCall(ref.runId, 'c', 'client'),
      ]);
      await tree.root.answer(ref.runId, 'c', { output: 1 });
      const next = await tree.root.newRun();
      includes(next, { supersededRunId: tree.runId, turn: 2 });
      includes(await store.readRecord(driver.id), { status: 'interrupted' });
      includes(await tree.root.messages('tool_end'), [
        { toolCallId: 'a', agentId: tree.root.id, step: 1, errorCode: 'client_tool_abandoned' },
        { toolCallId: 'd1', errorCode: 'client_tool_abandoned' },
      ]);
      equal(await tree.root.decide(ref.runId, 'a', true), { kind: 'already_completed' });
    });

    it('may be lost while it waits: then its parent goes on', async (given) => {
      const { store } = given;
      const tree = await grow(given, 1, () => []);
      const { driver, ref } = childAt(tree, 0);
      await driver.ask(ref.runId, 1, [heldCall(ref.runId, 'a')]);
      await driver.end(ref.runId, 'failed', {
        error: { code: 'framework_subagent_lost', message: 'lost', retryable: false },
      });
      includes(await store.readRecord(tree.root.id), { stream: 'paused' });
      includes(await settleChild(given, tree.root, tree.runId, 'd1'), { kind: 'stored' });
      includes(await store.readRecord(tree.root.id), { status: 'running', stream: 'active' });
      includes(await tree.root.claim(tree.root.writer(tree.runId, 2, 1)), { kind: 'claimed' });
    });

    it('that is lost at work ends with its call, and writes no more', async (given) => {
      const { store } = given;
      const tree = await grow(given, 1, () => []);
      const { driver, ref } = childAt(tree, 0);
      const writer = driver.writer(ref.runId, 1, 1);
      await driver.claim(writer);
      includes(await settleChild(given, tree.root, tree.runId, 'd1'), { kind: 'stored' });
      includes(await store.readRecord(driver.id), { status: 'failed' });
      equal(await driver.say(writer, 1, 'late'), { kind: 'superseded' });
      equal(await driver.commit(writer), { kind: 'superseded' });
    });

    it('may have sub-agents itself, which rest and end with it', async (given) => {
      const { store } = given;
      const tree = await grow(given, 2, () => []);
      const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
      const { call, child } = newSubAgent(one.driver.id, 'e1');
      await one.driver.ask(one.ref.runId, 1, [call]);
      equal(await begin(given, one.driver, one.ref.runId, 'e1', child), { kind: 'begun' });
      const below = drive(given, child.sessionId);
      await below.ask(child.runId, 1, [heldCall(child.runId, 'x')]);
      includes(await store.readRecord(one.driver.id), { status: 'waiting_children' });
      includes(await store.readRecord(tree.root.id), { stream: 'active' });
      await two.driver.ask(two.ref.runId, 1, [heldCall(two.ref.runId, 'y')]);
      includes(await store.readRecord(tree.root.id), { stream: 'paused' });
      equal(Object.keys(await store.getPendingCalls(tree.root.id)), ['x', 'y']);
      // Its own sub-agent is lost: it goes on although the other one waits.
      await below.end(child.runId, 'failed');
      await settleChild(given, one.driver, one.ref.runId, 'e1');
      includes(await store.readRecord(tree.root.id), { stream: 'active' });
      includes(await one.driver.claim(one.driver.writer(one.ref.runId, 2, 1)), { kind: 'claimed' });
      await one.driver.commit(one.driver.writer(one.ref.runId, 2, 1));
      await settleChild(given, tree.root, tree.runId, 'd1');
      includes(await store.readRecord(tree.root.id), {
        status: 'waiting_children',
        stream: 'paused',
      });
      includes(await tree.root.decide(two.ref.runId, 'y', true), { resume: { approved: ['y'] } });
      await tree.root.end(tree.runId, 'failed');
      includes(await store.readRecord(two.driver.id), { status: 'failed' });
    });

    it('is one of at most a hundred in a run', async (given) => {
      const { session, store } = given;
      const { runId } = await session.newRun();
      const made = Array.from({ length: 101 }, (_, n) => newSubAgent(session.id, `d${String(n)}`));
      await session.ask(
        runId,
        1,
        made.map(({ call }) => call),
      );
      const kinds: string[] = [];
      for (const { call, child } of made) {
        kinds.push((await begin(given, session, runId, call.toolCallId, child)).kind);
      }
      equal(kinds, [...Array<string>(100).fill('begun'), 'limit']);
      const last = made.at(-1);
      ok(last !== undefined);
      equal(await begin(given, session, runId, 'd100', last.child), { kind: 'limit' });
      includes(await store.readRecord(last.child.sessionId), {
        status: 'failed',
        error: { code: 'subagent_limit' },
      });
    });

    it('has call ids of its own', async (given) => {
      const { store } = given;
      const tree = await grow(given, 2, () => []);
      const [one, two] = [childAt(tree, 0).driver, childAt(tree, 1).driver];
      equal(await store.takeCallId(one.id, '1 c', 'c'), 'c');
      equal(await store.takeCallId(one.id, '1 c', 'c'), 'c');
      equal(await store.takeCallId(two.id, '1 c', 'c'), 'c_1');
      equal(await store.takeCallId(one.id, '2 c', 'c'), 'c_2');
      equal(await store.takeCallId(two.id, '1 d', 'd1'), 'd1_1');
      equal((await store.readSubAgentCallIds(tree.root.id)).sort(), ['c', 'c_1', 'c_2', 'd1_1']);
    });

    it('goes with its conversation', async (given) => {
      const { store } = given;
      const tree = await grow(given, 1, () => []);
      const { driver } = childAt(tree, 0);
      await store.delete(driver.id);
      includes(await store.readRecord(driver.id), { status: 'starting' });
      await store.delete(tree.root.id);
      equal(await store.readRecord(driver.id), undefined);
      equal(await store.readRows(driver.id, 0), []);
    });
  });
}
