import { ok } from 'node:assert/strict';
import type { StreamChunk } from '../../protocol/chunk.js';
import { equal, eventually, includes } from '../../store/conformance/assertions.js';
import { AGENT, approval, client, server } from '../../store/conformance/fixtures.js';
import { it } from './rules.js';

it('when a run’s state is lost, the outcome of its open calls is not known', async ({
  session,
}) => {
  const { runId } = await session.asked(approval('a'), server('s'));
  await session.decide(runId, 'a', true);
  const error = { code: 'state_lost', message: 'Lost.', retryable: false };
  await session.end(runId, 'failed', { error });
  includes(await session.rows(2), [
    { toolCallId: 'a', errorCode: 'tool_outcome_unknown' },
    { toolCallId: 's', errorCode: 'tool_outcome_unknown' },
  ]);
});

describe('start call', () => {
  it('a started call is never permitted again: its outcome is unknown, and written once', async (setup) => {
    const { session } = setup;
    const { runId } = await session.asked(server('s'));
    await session.start(runId, 1, 's', 1);
    equal(await session.start(runId, 1, 's', 2), { kind: 'settled' });
    equal(await session.start(runId, 1, 's', 3), { kind: 'settled' });
    includes(await session.finishCall(runId, 1, 's', 'late', 1), { kind: 'already_completed' });
    const author = { agentId: session.id, agentType: AGENT, step: 1 };
    includes(await session.messages('tool_end'), [
      { ...author, toolCallId: 's', errorCode: 'tool_outcome_unknown', providerExecuted: true },
    ]);
    await session.claim(session.writer(runId, 2, 1));
    includes(await session.rows(2), [{ toolCallId: 's', errorCode: 'tool_outcome_unknown' }]);
  });

  it('a started call of an idempotent tool is permitted again, and the first attempt is fenced off', async (setup) => {
    const { session } = setup;
    const { runId } = await session.asked(server('s', { idempotent: true }));
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

  it('a started call of a tool that can verify is permitted after it was not done', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s'));
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
    // If a reply is lost, the same attempt may ask again.
    includes(await start(2, {}), { kind: 'verify' });
    includes(await start(3, {}), { kind: 'verify' });
    equal(await start(2, { verified: 'not_done' }), { kind: 'fenced' });
    includes(await start(3, { verified: 'not_done' }), { kind: 'execute' });
    includes(await start(3, { verified: 'not_done' }), { kind: 'execute' });
    includes(await start(4, {}), { kind: 'verify' });
    includes(await session.finishCall(runId, 1, 's', 'found', 4), { kind: 'stored' });
    equal(await start(5, {}), { kind: 'settled' });
  });

  it('a started call has an unknown outcome if its tool cannot find out, or is gone', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s'), server('t'));
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

  it('a call that can verify is given up when too many executions were lost', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.asked(server('s'));
    const kinds: string[] = [];
    for (let token = 1; token <= 4; token += 1) {
      const writer = session.callWriter(runId, 1, 's', token);
      const budget = { max: 2, withinMs: 60_000 };
      const request = { writer, toolCallId: 's', now: 1, canVerify: true, budget };
      kinds.push((await store.calls.start(request)).kind);
    }
    equal(kinds, ['execute', 'verify', 'settled', 'settled']);
  });

  it('a second execution withdraws what the first one wrote, and nothing of its siblings', async (setup) => {
    const { session } = setup;
    const { runId } = await session.asked(
      ...['s', 't'].map((id) => server(id, { idempotent: true })),
    );
    await session.start(runId, 1, 's', 1);
    await session.start(runId, 1, 't', 1);
    await session.say(session.callWriter(runId, 1, 's', 1), 1, 'gone');
    await session.say(session.callWriter(runId, 1, 't', 1), 1, 'kept');
    await session.start(runId, 1, 's', 2);
    includes(await session.messages('text_delta'), [{ delta: 'kept' }]);
    includes(await session.messages('stream_resync'), [
      { toolCallId: 's', reason: 'crash_recovery' },
    ]);
    // A third attempt does not withdraw earlier entries.
    await session.start(runId, 1, 's', 3);
    equal((await session.messages('stream_resync')).length, 1);
  });

  it('an unknown outcome reverts announced state changes and silences the attempt', async (setup) => {
    const { streamManager, session } = setup;
    const { runId } = await session.asked(server('s'), server('t'));
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

  it('an unknown outcome keeps the decision on which the call was based', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.newRun();
    const made = { approved: true, at: 1, input: { list: [], n: 1_234_567_890_123_456 } };
    const automatic = { approved: true, at: 2, automatic: true };
    await session.ask(runId, 1, [approval('a'), server('s', { decision: automatic })]);
    await session.start(runId, 1, 's', 1);
    await session.start(runId, 1, 's', 2);
    const asked = { sessionId: session.id, agentType: AGENT, runId, toolCallId: 'a' };
    const decision = { ...asked, decision: made, permitted: true, chunks: [], now: 1 };
    await store.calls.settle({ source: 'approval', ...decision });
    await session.start(runId, 1, 'a', 1);
    await session.start(runId, 1, 'a', 2);
    await session.claim(session.writer(runId, 2, 1));
    includes(await session.rows(2), [
      { toolCallId: 'a', errorCode: 'tool_outcome_unknown', decision: made },
      { toolCallId: 's', errorCode: 'tool_outcome_unknown', decision: automatic },
    ]);
  });

  it('calls that are not approved, not requested, or executed by a client are refused', async (setup) => {
    const { session } = setup;
    const { runId } = await session.asked(approval('a'), client('c'));
    equal(await session.start(runId, 1, 'a'), { kind: 'refused' });
    equal(await session.start(runId, 1, 'c'), { kind: 'refused' });
    equal(await session.start(runId, 1, 'invented'), { kind: 'refused' });
  });

  it('an approved call is permitted once, with its decision', async ({ session }) => {
    const { runId } = await session.asked(approval('a'));
    await session.decide(runId, 'a', true);
    includes(await session.start(runId, 1, 'a', 1), {
      kind: 'execute',
      decision: { approved: true },
    });
    includes(await session.record(), { resumeTaken: true });
    equal(await session.start(runId, 1, 'a', 2), { kind: 'settled' });
  });

  it('the run pauses if the last busy call turns out to have an unknown outcome', async (setup) => {
    const { session } = setup;
    const { runId } = await session.asked(server('s'), approval('a'));
    await session.start(runId, 1, 's', 1);
    await session.start(runId, 1, 's', 2);
    includes(await session.record(), { status: 'waiting_approval' });
  });
});

describe('pin tools', () => {
  it('the first list counts for as long as the run is active', async ({ store, session }) => {
    const { runId } = await session.newRun();
    const run = { sessionId: session.id, runId };
    equal(await store.runs.pinTools(run), { kind: 'none' });
    const first = [{ name: 'a', inputSchema: { required: [], properties: {} } }];
    equal(await store.runs.pinTools({ ...run, tools: first }), { kind: 'pinned', tools: first });
    equal(await store.runs.pinTools({ ...run, tools: [] }), { kind: 'pinned', tools: first });
    await session.claim(session.writer(runId, 1, 1));
    await session.claim(session.writer(runId, 1, 2));
    equal(await store.runs.pinTools(run), { kind: 'pinned', tools: first });
  });

  it('a run that is over has none, and the next run chooses for itself', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.newRun();
    const run = { sessionId: session.id, runId };
    includes(await store.runs.pinTools({ ...run, tools: ['of the first'] }), { kind: 'pinned' });
    await session.end(runId, 'completed');
    equal(await store.runs.pinTools(run), { kind: 'superseded' });
    const next = await session.newRun('u2');
    const other = { sessionId: session.id, runId: next.runId };
    equal(await store.runs.pinTools(other), { kind: 'none' });
    equal(await store.runs.pinTools({ ...run, tools: ['too late'] }), { kind: 'superseded' });
    equal(await store.runs.pinTools(other), { kind: 'none' });
  });
});

describe('lease call', () => {
  it('one page carries out a call while it renews its lease', async ({ session }) => {
    const { runId } = await session.asked(client('c'), client('d'));
    equal(await session.lease(runId, 'c', 'page 1'), { kind: 'leased' });
    equal(await session.lease(runId, 'c', 'page 1'), { kind: 'leased' });
    const held = await session.lease(runId, 'c', 'page 2');
    const left = held.kind === 'held' ? held.forMs : 0;
    ok(left > 0 && left <= 60_000, `held for ${String(left)} ms`);
    equal(await session.lease(runId, 'd', 'page 2'), { kind: 'leased' });
  });

  it('a lease expires', async ({ session }) => {
    const { runId } = await session.asked(client('c'));
    equal(await session.lease(runId, 'c', 'page 1', 1), { kind: 'leased' });
    await eventually('the lease is over', async () => {
      const { kind } = await session.lease(runId, 'c', 'page 2');
      return kind === 'leased';
    });
  });

  it('only its holder can release a lease', async ({ session }) => {
    const { runId } = await session.asked(client('c'));
    await session.lease(runId, 'c', 'page 1');
    includes(await session.lease(runId, 'c', 'page 2', 0), { kind: 'held' });
    includes(await session.lease(runId, 'c', 'page 2'), { kind: 'held' });
    equal(await session.lease(runId, 'c', 'page 1', 0), { kind: 'leased' });
    equal(await session.lease(runId, 'c', 'page 2'), { kind: 'leased' });
  });

  it('an answer is accepted from any page and ends the lease', async ({ session }) => {
    const { runId } = await session.asked(client('c'), client('d'));
    await session.lease(runId, 'c', 'page 1');
    includes(await session.answer(runId, 'c', { output: 1 }), { kind: 'stored' });
    equal(await session.lease(runId, 'c', 'page 1'), { kind: 'already_completed' });
  });

  it('calls that no page carries out are refused', async ({ session }) => {
    const { runId } = await session.asked(approval('a'), client('c'));
    equal(await session.lease(runId, 'x', 'page 1'), { kind: 'not_pending' });
    equal(await session.lease(runId, 'a', 'page 1'), { kind: 'kind_mismatch' });
    equal(await session.lease(`${session.id}:9-x`, 'c', 'page 1'), { kind: 'stale_run' });
  });
});
