import { equal, includes } from '../../store/conformance/assertions.js';
import { AGENT, approval, client, server } from '../../store/conformance/fixtures.js';
import { drive, type SessionDriver } from '../../store/conformance/session-driver.js';
import type { Case } from '../../store/conformance/suite.js';
import {
  begin,
  childAt,
  grow,
  heldCall,
  newSubAgent,
  settleChild,
} from '../../store/conformance/tree.js';
import type { SettleCallResult } from '../../store/contract/calls.js';
import type { Store } from '../../store/contract/store.js';
import { it } from './rules.js';

const SECRET = 'secret-of-s';

/** Makes the tool of call `s` pass its address on, so that the call waits. */
async function waitForHook(
  { store }: Pick<Case, 'store'>,
  session: SessionDriver,
  runId: string,
  toolCallId = 's',
): Promise<void> {
  const writer = session.callWriter(runId, 1, toolCallId, 1);
  const base = { writer, toolCallId, now: Date.now() };
  includes(await store.calls.start({ ...base, hook: SECRET }), { kind: 'execute', hook: SECRET });
  equal(await store.calls.suspend(base), { kind: 'suspended' });
}

function callHook(
  store: Store,
  sessionId: string,
  runId: string,
  { toolCallId = 's', secret = SECRET } = {},
): Promise<SettleCallResult> {
  return store.calls.settle({
    source: 'webhook',
    sessionId,
    agentType: AGENT,
    toolCallId,
    runId,
    secret,
    row: { role: 'tool', toolCallId, toolName: 'server-tool', output: 'sent' },
    chunks: [],
    now: Date.now(),
  });
}

describe('the webhook of a call', () => {
  it('takes one request with its secret, which is the result, and none after its end', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s'));
    equal(await callHook(store, session.id, runId), { kind: 'not_pending' });
    await waitForHook(setup, session, runId);
    includes(await session.record(), { status: 'waiting_tool', stream: 'paused' });
    equal(await session.start(runId, 1, 's', 2), { kind: 'suspended' });
    equal(await session.finishCall(runId, 1, 's', 'of the tool'), { kind: 'fenced' });
    const wrong = { secret: 'secret-of-t' };
    equal(await callHook(store, session.id, runId, wrong), { kind: 'not_pending' });
    equal(await callHook(store, session.id, runId, { toolCallId: 't' }), { kind: 'not_pending' });
    includes(await session.answer(runId, 's', { output: 1 }), { kind: 'kind_mismatch' });
    includes(await callHook(store, session.id, runId), {
      kind: 'stored',
      resume: { step: 1, approved: [] },
    });
    for (let step = 1; step < 3; step += 1) {
      equal(await callHook(store, session.id, runId), { kind: 'already_completed' });
      equal(await callHook(store, session.id, runId, wrong), { kind: 'not_pending' });
      if (step === 1) await session.ask(runId, 2, [server('t')]);
    }
    const rows = await session.rows(2);
    includes(rows.slice(0, 1), [{ role: 'tool', toolCallId: 's', output: 'sent' }]);
  });

  it('is called too early while its tool runs, whose next attempt gets the same address', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s', { idempotent: true }));
    const start = (token: number, hook: string) =>
      store.calls.start({
        writer: session.callWriter(runId, 1, 's', token),
        toolCallId: 's',
        now: Date.now(),
        hook,
      });
    await start(1, SECRET);
    equal(await callHook(store, session.id, runId), { kind: 'not_due' });
    includes(await start(2, 'another'), { kind: 'execute', hook: SECRET });
    const suspend = (token: number) =>
      store.calls.suspend({
        writer: session.callWriter(runId, 1, 's', token),
        toolCallId: 's',
        now: Date.now(),
      });
    equal(await suspend(1), { kind: 'fenced' });
    await session.stop();
    includes(await suspend(2), { kind: 'superseded' });
    equal(await callHook(store, session.id, runId), { kind: 'expired' });
  });

  it('ends by the clock of the store, and never by a person', async (setup) => {
    const { store, session } = setup;
    for (const [messageId, deadlineMs] of [['u1', 60_000] as const, ['u2', 1] as const]) {
      const { runId } = await session.newRun(messageId);
      await session.ask(runId, 1, [server('s', { deadlineMs })]);
      await waitForHook(setup, session, runId);
      const { deadline = 0 } = (await session.record()) ?? {};
      equal(deadline, (await session.call('s'))?.deadline);
      while (deadlineMs === 1 && Date.now() <= deadline) await Promise.resolve();
      if (deadlineMs === 1) equal(await callHook(store, session.id, runId), { kind: 'expired' });
      const expired = await session.expire(runId, 's');
      equal(expired.kind, deadlineMs === 1 ? 'stored' : 'not_due');
      if (deadlineMs === 1) {
        equal(await callHook(store, session.id, runId), { kind: 'expired' });
        // The tool has its outcome, so later answers reach nobody.
        includes(await session.answer(runId, 's', { output: 1 }), { kind: 'already_completed' });
      } else await session.stop();
    }
    includes(await session.messages('tool_end'), [{ toolCallId: 's', errorCode: 'run_stopped' }]);
  });

  it('asks no person: a pause names the questions beside it', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s'), approval('a'));
    await waitForHook(setup, session, runId);
    includes(await store.calls.suspension(session.id), { toolCallIds: ['a'] });
    includes(await session.messages('run_paused'), [{ pendingToolCallId: 'a' }]);
    equal('resume' in (await callHook(store, session.id, runId)), false);
    includes(await session.record(), {
      status: 'waiting_approval',
      stream: 'paused',
    });
    includes(await session.decide(runId, 'a', true), { resume: { approved: ['a'] } });
  });

  it('holds no approved call back, and is waited for', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s'), approval('a'));
    await waitForHook(setup, session, runId);
    includes(await session.decide(runId, 'a', true), { resume: { step: 1, approved: ['a'] } });
    includes(await session.start(runId, 1, 'a', 1), { kind: 'execute' });
    await session.finishCall(runId, 1, 'a', 'done', 1);
    includes(await session.record(), { status: 'waiting_tool', stream: 'paused' });
    includes(await session.claim(session.writer(runId, 2, 1)), { kind: 'not_ready' });
    includes(await session.record(), { resumeTaken: true });
    includes(await callHook(store, session.id, runId), { resume: { approved: [] } });
    includes(await session.record(), { resumeTaken: false });
    includes(await session.claim(session.writer(runId, 2, 1)), { kind: 'claimed' });
  });

  it('releases what was released before, whose start does not show that the news has arrived', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s'), approval('a'));
    await waitForHook(setup, session, runId);
    await session.decide(runId, 'a', true);
    includes(await callHook(store, session.id, runId), { resume: { approved: ['a'] } });
    includes(await session.start(runId, 1, 'a', 1), { kind: 'execute' });
    includes(await session.record(), { resumeTaken: false });
  });

  it('keeps what its tool said and changed, and is due although other calls work', async (setup) => {
    const { store, streamManager, session } = setup;
    const { runId } = await session.asked(server('s', { deadlineMs: 60_000 }), server('t'));
    const writer = session.callWriter(runId, 1, 's', 1);
    const base = { writer, toolCallId: 's', now: Date.now() };
    await store.calls.start({ ...base, hook: SECRET });
    const said = { agentId: session.id, agentType: AGENT, step: 1, timestamp: 1 };
    const event = { type: 'custom' as const, ...said, eventName: 'progress', data: 1 };
    await streamManager.append(writer, 1, [event], 0);
    await store.calls.suspend({ ...base, changes: [{ op: 'add', path: '/n', value: 1 }] });
    equal((await session.record())?.deadline, (await session.call('s'))?.deadline);
    await session.carryOut(runId, 1, 't', 'done');
    includes(await callHook(store, session.id, runId), { kind: 'stored' });
    includes(await store.documents.readState(session.id), { customState: { n: 1 } });
    await session.claim(session.writer(runId, 2, 1));
    includes(await session.rows(2, 3), [{ toolCallId: 's', events: [{ chunk: { data: 1 } }] }]);
  });

  it('answers that release nothing leave a run asleep', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s'), client('c'));
    await waitForHook(setup, session, runId);
    equal('resume' in (await session.answer(runId, 'c', { output: 1 })), false);
    includes(await session.record(), { stream: 'paused' });
    includes(await callHook(store, session.id, runId), { resume: { approved: [] } });
  });

  it('of a sub-agent lets it go on while others ask; one that is lost then releases what was approved', async (setup) => {
    const { store } = setup;
    const tree = await grow(setup, 2, (runId) => [heldCall(runId, 'own')]);
    const { root, runId } = tree;
    const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
    await one.driver.ask(one.ref.runId, 1, [server('s')]);
    await waitForHook(setup, one.driver, one.ref.runId);
    await two.driver.ask(two.ref.runId, 1, [heldCall(two.ref.runId, 'x')]);
    equal('resume' in (await root.decide(runId, 'own', true)), false);
    includes(await callHook(store, one.driver.id, one.ref.runId), { resume: { approved: [] } });
    includes(await root.record(), { status: 'running', stream: 'active' });
    includes(await one.driver.claim(one.driver.writer(one.ref.runId, 2, 1)), { kind: 'claimed' });
    equal(await root.start(runId, 1, 'own'), { kind: 'refused' });
    await two.driver.end(two.ref.runId, 'failed');
    includes(await settleChild(setup, root, runId, two.callId), {
      kind: 'stored',
      resume: { step: 1, approved: ['own'] },
    });
    includes(await root.start(runId, 1, 'own', 1), { kind: 'execute' });
  });

  it('what a sub-agent asks after it joins the questions that are still open', async (setup) => {
    const tree = await grow(setup, 1, (runId) => [heldCall(runId, 'own')]);
    const { root, runId } = tree;
    const { driver, ref } = childAt(tree, 0);
    await driver.ask(ref.runId, 1, [server('s')]);
    await waitForHook(setup, driver, ref.runId);
    await callHook(setup.store, driver.id, ref.runId);
    await driver.ask(ref.runId, 2, [heldCall(ref.runId, 'x')]);
    equal(Object.keys(await root.pending()).sort(), ['own', 'x']);
    await root.decide(runId, 'own', true);
    await root.decide(ref.runId, 'x', true);
    await driver.carryOut(ref.runId, 2, 'x', 'done');
    await root.carryOut(runId, 1, 'own', 'done');
    await driver.ask(ref.runId, 3, [heldCall(ref.runId, 'y')]);
    const steps = await root.messages('step_start');
    const asked = steps.flatMap(({ stepId, joins }) => (stepId === 'ask' ? [joins] : []));
    equal(asked, [undefined, true, undefined]);
    const shown = (await root.rows()).flatMap((row) =>
      row.role === 'assistant' && row.display === true ? [row.joins] : [],
    );
    equal(shown, asked);
  });

  it('a sub-agent that waits for it sleeps on when the conversation goes on', async (setup) => {
    const { root, runId, children } = await grow(setup, 1, (runId) => [heldCall(runId, 'own')]);
    for (const { driver, ref } of children) {
      await driver.ask(ref.runId, 1, [server('s')]);
      await waitForHook(setup, driver, ref.runId);
      const decided = await root.decide(runId, 'own', true);
      includes(decided, { resume: { approved: ['own'] } });
      equal('others' in decided, false);
      includes(await driver.record(), { status: 'waiting_tool' });
    }
  });

  it('a sub-agent that goes on alone keeps the conversation active', async (setup) => {
    const tree = await grow(setup, 2, (runId) => [heldCall(runId, 'own')]);
    const { root, runId } = tree;
    const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
    await one.driver.ask(one.ref.runId, 1, [server('s')]);
    await waitForHook(setup, one.driver, one.ref.runId);
    await two.driver.ask(two.ref.runId, 1, [heldCall(two.ref.runId, 'x')]);
    await callHook(setup.store, one.driver.id, one.ref.runId);
    await settleChild(setup, root, runId, two.callId);
    includes(await root.record(), { status: 'running', stream: 'active' });
  });

  it('a sub-agent that goes on alone begins a leg with those above it, which work again', async (setup) => {
    const { store } = setup;
    const tree = await grow(setup, 1, (runId) => [heldCall(runId, 'own')]);
    const { driver, ref } = childAt(tree, 0);
    const { call, child } = newSubAgent(tree.root.id, 'below');
    await driver.ask(ref.runId, 1, [call]);
    await begin(setup, driver, ref.runId, 'below', child);
    const below = drive(setup, child.sessionId);
    await below.ask(child.runId, 1, [server('s')]);
    await waitForHook(setup, below, child.runId);
    includes(await driver.record(), { status: 'waiting_children' });
    await callHook(store, below.id, child.runId);
    for (const { id } of [tree.root, driver, below]) {
      includes(await store.sessions.read(id), { status: 'running', leg: { number: 2 } });
    }
    const above = [{ sessionId: tree.root.id, runId: tree.runId }, ref];
    for (const { sessionId, runId } of above) {
      includes(await store.runs.next({ sessionId, runId }), { next: { isPartial: true } });
    }
  });

  it('a sub-agent that ends releases nothing where no people were asked, or others are', async (setup) => {
    const tree = await grow(setup, 2, (runId) => [heldCall(runId, 'own')]);
    const { root, runId } = tree;
    const [one, two] = [childAt(tree, 0), childAt(tree, 1)];
    equal('resume' in (await settleChild(setup, root, runId, one.callId)), false);
    await two.driver.ask(two.ref.runId, 1, [heldCall(two.ref.runId, 'x')]);
    await root.decide(runId, 'own', true);
    includes(await root.record(), { stream: 'paused' });
    equal(await root.start(runId, 1, 'own'), { kind: 'refused' });
  });
});
