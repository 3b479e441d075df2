import { equal, includes } from '../../stores/conformance/assertions.js';
import { AGENT, approval, client, server } from '../../stores/conformance/fixtures.js';
import type { SessionDriver } from '../../stores/conformance/session-driver.js';
import type { Case } from '../../stores/conformance/suite.js';
import { type Tree, childAt, grow, heldCall, settleChild } from '../../stores/conformance/tree.js';
import type { WaitCall } from '../../stores/contract/call-record.js';
import type { SettleCallResult } from '../../stores/contract/calls.js';
import type { RecordStepResult, SuspendCallResult } from '../../stores/contract/journal.js';
import type { Store } from '../../stores/contract/store.js';
import { it } from './rules.js';

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
function suspend(
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

/** Executes a call whose tool then sleeps, for no time. */
async function sleep(
  store: Store,
  session: SessionDriver,
  runId: string,
  toolCallId: string,
): Promise<void> {
  await session.start(runId, 1, toolCallId, 1);
  const wait = { toolCallId: `${toolCallId}~0`, toolName: 'nap', kind: 'timer' as const };
  const suspended = await store.calls.suspend({
    writer: session.callWriter(runId, 1, toolCallId, 1),
    ...{ toolCallId, at: 0, now: Date.now(), dueInMs: 0 },
    operation: { kind: 'suspend', name: 'nap' },
    wait: { ...wait, input: {}, of: toolCallId },
  });
  equal(suspended.kind, 'suspended');
}

/**
 * A conversation that people have answered, whose sub-agent asks, and in which a tool has slept.
 *
 * @param kind of what people have answered
 */
async function wakeWhileSubAgentAsks(setup: Case, kind: 'approval' | 'client'): Promise<Tree> {
  const { store } = setup;
  const own = (runId: string) => [heldCall(runId, 'own', kind), server('s')];
  const tree = await grow(setup, 1, own);
  const { root, runId } = tree;
  const { driver, ref } = childAt(tree, 0);
  await driver.ask(ref.runId, 1, [heldCall(ref.runId, 'x')]);
  await sleep(store, root, runId, 's');
  const answered =
    kind === 'approval'
      ? await root.decide(runId, 'own', true)
      : await root.answer(runId, 'own', { output: 1 });
  equal('resume' in answered, false);
  includes(await root.expire(runId, 's~0'), { resume: { approved: ['s'], partial: true } });
  await root.start(runId, 1, 's', 2);
  return tree;
}

describe('the journal of a call', () => {
  it('a lost call with recorded steps is executed again, and gets them', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s'));
    await session.start(runId, 1, 's', 1);
    const result = { deep: { empty: [], long: 12345678901234 } };
    equal(await recordStep(store, session, runId, 0, { result }), { kind: 'recorded' });
    const again = await session.start(runId, 1, 's', 2);
    includes(again, { kind: 'execute', journal: [{ kind: 'step', name: 'step 0', result }] });
    equal(await recordStep(store, session, runId, 1, { result: 1 }), { kind: 'fenced' });
  });

  it('a call that was lost in the middle of a step has an unknown outcome', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s'));
    await session.start(runId, 1, 's', 1);
    await recordStep(store, session, runId, 0, { result: 1 });
    await recordStep(store, session, runId, 1);
    equal(await session.start(runId, 1, 's', 2), { kind: 'settled' });
    includes(await session.messages('tool_end'), [{ errorCode: 'tool_outcome_unknown' }]);
  });

  it('a call that was lost after a step had thrown is executed again', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s'));
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

  it('a step that threw and was begun again can be lost in its middle', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s'));
    await session.start(runId, 1, 's', 1);
    await recordStep(store, session, runId, 0, { failed: true });
    await session.start(runId, 1, 's', 2);
    await recordStep(store, session, runId, 0, { token: 2 });
    equal(await session.start(runId, 1, 's', 3), { kind: 'settled' });
  });

  it('a result that was recorded is kept when it is recorded again', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s'));
    await session.start(runId, 1, 's', 1);
    await recordStep(store, session, runId, 0, { result: 'first' });
    equal(await recordStep(store, session, runId, 0, { result: 'second' }), {
      kind: 'recorded',
    });
    includes(await session.start(runId, 1, 's', 2), { journal: [{ result: 'first' }] });
  });

  it('text before a recorded step stays, text after it is withdrawn', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s'));
    await session.start(runId, 1, 's', 1);
    const writer = session.callWriter(runId, 1, 's', 1);
    await session.say(writer, 1, 'before');
    await recordStep(store, session, runId, 0, { result: 1 });
    await session.say(writer, 2, 'after');
    await session.start(runId, 1, 's', 2);
    includes(await session.messages('text_delta'), [{ delta: 'before' }]);
  });

  it('a call that waits pauses the run; the answer releases it, with the answer', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s'));
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
    const { runId } = await session.asked(server('s'));
    await session.start(runId, 1, 's', 1);
    await suspend(store, session, runId, 0, { wait: { kind: 'timer' }, dueInMs: 60_000 });
    includes(await session.expire(runId, 's~0'), { kind: 'not_due' });
    includes(await session.answer(runId, 's~0', { output: 1 }), { kind: 'kind_mismatch' });
    await session.stop();
    includes(await store.sessions.read(session.id), { status: 'interrupted' });
    includes(await session.messages('tool_end'), [{ toolCallId: 's', errorCode: 'run_stopped' }]);
  });

  it('a pause names questions only, no timer', async ({ store, session }) => {
    const { runId } = await session.asked(server('s'), approval('a'));
    await session.start(runId, 1, 's', 1);
    await suspend(store, session, runId, 0, { wait: { kind: 'timer' }, dueInMs: 60_000 });
    includes(await store.calls.suspension(session.id), { toolCallIds: ['a'] });
    includes(await session.messages('run_paused'), [{ pendingToolCallId: 'a' }]);
    includes(await session.messages('suspension_marker'), [{ payload: { toolCallIds: ['a'] } }]);
  });

  it('a timer that is over releases its call', async ({ store, session }) => {
    const { runId } = await session.asked(server('s'));
    await session.start(runId, 1, 's', 1);
    await suspend(store, session, runId, 0, { wait: { kind: 'timer' }, dueInMs: 0 });
    includes(await session.expire(runId, 's~0'), {
      kind: 'stored',
      resume: { approved: ['s'] },
    });
    includes(await session.start(runId, 1, 's', 2), { kind: 'execute' });
  });

  it('a call waits only while its run is active and its attempt owns it', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s', { idempotent: true }));
    await session.start(runId, 1, 's', 1);
    await session.start(runId, 1, 's', 2);
    equal(await suspend(store, session, runId, 0), { kind: 'fenced' });
    await session.stop();
    includes(await suspend(store, session, runId, 0, { token: 2 }), { kind: 'superseded' });
  });

  it('a call that runs beside it lets the question wait, and is waited for', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s'), server('t'));
    await session.start(runId, 1, 's', 1);
    await session.start(runId, 1, 't', 1);
    await suspend(store, session, runId, 0);
    includes(await store.sessions.read(session.id), { status: 'running', stream: 'active' });
    await session.finishCall(runId, 1, 't', 'done');
    includes(await store.sessions.read(session.id), { status: 'waiting_tool' });
  });

  it('a webhook takes one request, and none after its end', async ({ store, session }) => {
    const { runId } = await session.asked(server('s'));
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
    const { runId } = await session.asked(server('s'));
    await session.start(runId, 1, 's', 1);
    equal(await recordStep(store, session, runId, 100), { kind: 'full' });
    equal(await suspend(store, session, runId, 100), { kind: 'full' });
  });
});

/** Tools that sleep beside questions to people: neither holds the other. */
describe('waits beside questions', () => {
  it('a timer that is over releases its call while people are asked, and asks them no more', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.newRun();
    const calls = [server('s'), approval('a'), approval('b')];
    await session.ask(runId, 1, calls);
    await session.start(runId, 1, 's', 1);
    await suspend(store, session, runId, 0, { wait: { kind: 'timer' }, dueInMs: 0 });
    equal('resume' in (await session.decide(runId, 'a', true)), false);
    const resume = { step: 1, approved: ['s'], partial: true };
    includes(await session.expire(runId, 's~0'), { kind: 'stored', resume });
    includes(await store.sessions.read(session.id), { status: 'running', stream: 'active' });
    // The batch of people is not complete.
    equal(await session.start(runId, 1, 'a'), { kind: 'refused' });
    includes(await session.start(runId, 1, 's', 2), { kind: 'execute' });
    const paused = await session.messages('run_paused');
    includes(await session.finishCall(runId, 1, 's', 'done', 2), { kind: 'stored' });
    includes(await store.sessions.read(session.id), {
      status: 'waiting_approval',
      stream: 'paused',
      resumeTaken: true,
    });
    equal((await session.messages('run_paused')).length, paused.length + 1);
    includes(await session.decide(runId, 'b', true), { resume: { approved: ['a', 'b'] } });
    // The run has taken the release before this one.
    includes(await store.sessions.read(session.id), { resumeTaken: false });
  });

  it('the last answer of people releases their calls while a timer runs', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s'), approval('a'));
    await session.start(runId, 1, 's', 1);
    await suspend(store, session, runId, 0, { wait: { kind: 'timer' }, dueInMs: 60_000 });
    includes(await session.decide(runId, 'a', true), { resume: { step: 1, approved: ['a'] } });
    includes(await store.sessions.read(session.id), { status: 'running', stream: 'active' });
    includes(await session.start(runId, 1, 'a', 1), { kind: 'execute' });
    await session.finishCall(runId, 1, 'a', 'done', 1);
    includes(await store.sessions.read(session.id), { status: 'waiting_tool', stream: 'paused' });
    includes(await session.claim(session.writer(runId, 2, 1)), { kind: 'not_ready' });
  });

  it('answers that release nothing leave a run asleep, and are taken with its timer', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s'), client('c'));
    await session.start(runId, 1, 's', 1);
    await suspend(store, session, runId, 0, { wait: { kind: 'timer' }, dueInMs: 0 });
    equal('resume' in (await session.answer(runId, 'c', { output: 1 })), false);
    includes(await store.sessions.read(session.id), { stream: 'paused' });
    const resume = { step: 1, approved: ['s'] };
    const over = await session.expire(runId, 's~0');
    includes(over, { kind: 'stored', resume });
    equal('resume' in over && 'partial' in (over.resume as object), false);
    await session.start(runId, 1, 's', 2);
    await session.finishCall(runId, 1, 's', 'done', 2);
    includes(await session.claim(session.writer(runId, 2, 1)), { kind: 'claimed' });
  });

  it('a release whose signal was lost is not taken with the one before it', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s'), approval('a'));
    await sleep(store, session, runId, 's');
    includes(await session.expire(runId, 's~0'), { resume: { approved: ['s'], partial: true } });
    // The process that stores this answer is killed before it signals the run.
    includes(await session.decide(runId, 'a', true), { resume: { approved: ['s', 'a'] } });
    const resume = { step: 1, approved: ['s', 'a'] };
    // The worker of `s` is killed, too.
    await session.start(runId, 1, 's', 2);
    await session.start(runId, 1, 's', 3);
    includes(await store.sessions.read(session.id), { resume, resumeTaken: false });
    await session.finishCall(runId, 1, 's', 'done', 3);
    includes(await store.sessions.read(session.id), { resume, resumeTaken: false });
    await session.start(runId, 1, 'a', 1);
    includes(await store.sessions.read(session.id), { resume, resumeTaken: true });
    await session.finishCall(runId, 1, 'a', 'done', 1);
    includes(await session.claim(session.writer(runId, 2, 1)), { kind: 'claimed' });
    equal((await store.sessions.read(session.id))?.resume, undefined);
  });

  it('an answer that releases nothing more is not taken by what was released before it', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s'), approval('a'));
    await sleep(store, session, runId, 's');
    await session.expire(runId, 's~0');
    const resume = { step: 1, approved: ['s'] };
    includes(await session.decide(runId, 'a', false), { resume });
    await session.start(runId, 1, 's', 2);
    await session.finishCall(runId, 1, 's', 'done', 2);
    includes(await store.sessions.read(session.id), { resume, resumeTaken: false });
  });

  it('of two waits that end together, a release that was lost is not taken with the other', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.newRun();
    const ids = ['s', 't', 'u'];
    await session.ask(runId, 1, [...ids.map((id) => server(id)), approval('a')]);
    for (const id of ids) await sleep(store, session, runId, id);
    await session.expire(runId, 's~0');
    includes(await session.expire(runId, 't~0'), { resume: { approved: ['s', 't'] } });
    await session.start(runId, 1, 's', 2);
    includes(await store.sessions.read(session.id), { resumeTaken: false });
    // A signal names all that has not started: one that arrives stands for those before it.
    includes(await session.expire(runId, 'u~0'), { resume: { approved: ['t', 'u'] } });
    await session.start(runId, 1, 'u', 2);
    includes(await store.sessions.read(session.id), { resumeTaken: true });
    // A tool that sleeps again is released once more.
    await session.start(runId, 1, 't', 2);
    await session.finishCall(runId, 1, 't', 'done', 2);
    await session.finishCall(runId, 1, 'u', 'done', 2);
    await suspend(store, session, runId, 1, {
      token: 2,
      wait: { kind: 'timer' },
      dueInMs: 0,
    });
    includes(await session.expire(runId, 's~1'), { resume: { approved: ['s'] } });
    includes(await store.sessions.read(session.id), { resumeTaken: false });
    await session.start(runId, 1, 's', 3);
    includes(await store.sessions.read(session.id), { resumeTaken: true });
  });

  it('a sub-agent is woken until it has taken its newest release', async (setup) => {
    const { store } = setup;
    const tree = await grow(setup, 1, () => []);
    const { driver, ref } = childAt(tree, 0);
    const wakes = async () => (await store.sessions.read(tree.root.id))?.wakes;
    await driver.ask(ref.runId, 1, [server('s'), heldCall(ref.runId, 'a')]);
    await sleep(store, driver, ref.runId, 's');
    await driver.expire(ref.runId, 's~0');
    await tree.root.decide(ref.runId, 'a', true);
    await driver.start(ref.runId, 1, 's', 2);
    includes(await wakes(), [{ runId: ref.runId, resume: { approved: ['s', 'a'] } }]);
    await driver.start(ref.runId, 1, 'a', 1);
    equal(await wakes(), undefined);
  });

  it('a sub-agent that is lost while it alone asks lets what people approved continue', async (setup) => {
    const { store } = setup;
    const tree = await wakeWhileSubAgentAsks(setup, 'approval');
    const { root, runId } = tree;
    await childAt(tree, 0).driver.end(childAt(tree, 0).ref.runId, 'failed');
    includes(await settleChild(setup, root, runId, 'd1'), {
      kind: 'stored',
      resume: { step: 1, approved: ['own'] },
    });
    await root.finishCall(runId, 1, 's', 'done', 2);
    includes(await store.sessions.read(root.id), { status: 'running', resumeTaken: false });
    includes(await root.start(runId, 1, 'own', 1), { kind: 'execute' });
    await root.finishCall(runId, 1, 'own', 'done', 1);
    includes(await root.claim(root.writer(runId, 2, 1)), { kind: 'claimed' });
  });

  it('a sub-agent that is lost while it alone asks ends the batch of answers', async (setup) => {
    const { root, runId } = await wakeWhileSubAgentAsks(setup, 'client');
    const settled = await settleChild(setup, root, runId, 'd1');
    includes(settled, { kind: 'stored', resume: { step: 1, approved: [] } });
    await root.finishCall(runId, 1, 's', 'done', 2);
    includes(await root.claim(root.writer(runId, 2, 1)), { kind: 'claimed' });
  });

  it('a sub-agent that ends releases nothing where no people were asked, or others are', async (setup) => {
    const { store } = setup;
    const tree = await grow(setup, 2, (runId) => [heldCall(runId, 'own')]);
    const { root, runId } = tree;
    const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
    equal('resume' in (await settleChild(setup, root, runId, one.callId)), false);
    await two.driver.ask(two.ref.runId, 1, [heldCall(two.ref.runId, 'x')]);
    await root.decide(runId, 'own', true);
    includes(await store.sessions.read(root.id), { stream: 'paused' });
    equal(await root.start(runId, 1, 'own'), { kind: 'refused' });
  });
});
