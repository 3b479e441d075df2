import { ok } from 'node:assert/strict';
import { equal, includes } from '../../store/conformance/assertions.js';
import { approval, client, server, textIn } from '../../store/conformance/fixtures.js';
import type { Case } from '../../store/conformance/suite.js';
import { it } from './rules.js';

const typesOf = async ({ session }: Case): Promise<string[]> =>
  (await session.log()).map(({ message }) => message.type);

const FIRST = { inputTokens: 100, outputTokens: 20, cachedTokens: 60, costMicroUsd: 250 };
const SECOND = { inputTokens: 150, outputTokens: 5, cacheWriteTokens: 40, reasoningTokens: 3 };
const BOTH = { ...FIRST, ...SECOND, inputTokens: 250, outputTokens: 25 };
/** Values that Lua would change by decoding and encoding them. */
const OUTPUT = { list: [], object: {}, n: 1_234_567_890_123_456, deep: [[null]], text: 'ä"\n' };

describe('commit', () => {
  it('row, calls and pause are stored together', async (setup) => {
    const { session } = setup;
    const { runId, writer } = await session.claimed();
    const calls = [approval('a', { deadlineMs: 5_000 }), client('c')];
    const result = await session.commit(writer, { calls });

    const view = await session.view();
    includes(result, { kind: 'committed', sequence: view?.record.sequence, paused: true });
    includes(view?.record, {
      status: 'waiting_approval',
      stream: 'paused',
      committedStep: 1,
      pauseSequence: view?.record.sequence,
    });
    includes(view?.rows, [{ role: 'user' }, { role: 'assistant' }]);
    includes(view?.openCalls, [
      {
        state: 'waiting',
        askedAt: view?.record.sequence,
        spec: {
          toolCallId: 'a',
          kind: 'approval',
          runId,
          step: 1,
          input: { of: 'a' },
          approvalId: `${runId}::a`,
          deadlineMs: 5_000,
        },
      },
      { state: 'waiting', spec: { toolCallId: 'c', kind: 'client' } },
    ]);
    equal(await typesOf(setup), ['step_end', 'suspension_marker', 'run_paused']);
    includes(await session.messages('run_paused'), [
      { reason: 'approval', pendingToolCallId: 'a', pendingToolName: 'approval-tool' },
    ]);
  });

  it('the run does not pause while a server tool must run, but with its result', async (setup) => {
    const { session } = setup;
    const { runId } = await session.newRun();
    const calls = [server('s'), approval('a')];
    includes(await session.ask(runId, 1, calls), { paused: false });
    includes(await session.record(), { stream: 'active' });
    await session.start(runId, 1, 's');
    equal(await session.messages('run_paused'), []);
    await session.finishCall(runId, 1, 's', 1);
    includes(await session.record(), { stream: 'paused' });
    equal((await typesOf(setup)).slice(-3), ['tool_end', 'suspension_marker', 'run_paused']);
    includes(await session.messages('suspension_marker'), [
      { kind: 'suspended_step_partial', payload: { toolCallIds: ['a'], stepId: 's1' } },
    ]);
  });

  it('a commit is a sign of life of its run', async ({ session }) => {
    const { writer } = await session.claimed();
    const now = Date.now() + 60_000;
    await session.commit(writer, { calls: [server('s')], now });
    includes(await session.record(), { updatedAt: now });
  });

  it('a repeated commit returns the first outcome and writes nothing', async ({ session }) => {
    const { writer } = await session.claimed();
    await session.commit(writer, { calls: [approval('a')] });
    const before = await session.view();
    includes(await session.commit(writer, { calls: [approval('other')] }), {
      kind: 'done',
      outcome: { kind: 'calls', calls: [{ toolCallId: 'a' }] },
    });
    equal(await session.view(), before);
  });

  it('a repeated commit that ended the run returns how it ended', async ({ session }) => {
    const { writer } = await session.claimed();
    await session.commit(writer);
    equal(await session.commit(writer), {
      kind: 'done',
      outcome: { kind: 'ended', step: 1, status: 'completed' },
    });
    equal((await session.messages('stream_end')).length, 1);
  });

  it('a commit finds a stop, unless it answers one', async ({ session }) => {
    const { runId, writer } = await session.claimed();
    await session.stop({ reason: 'why' });
    equal(await session.commit(writer), {
      kind: 'stopped',
      stop: { mode: 'interrupt', reason: 'why' },
    });
    await session.commit(writer, {
      answersStop: true,
      final: { status: 'interrupted' },
      outcome: { kind: 'ended', step: 1, status: 'interrupted' },
    });
    includes(await session.messages('run_interrupted'), [
      { reason: 'why', checkpointId: `cpv1-${session.id}-s1-${runId.split(':')[1] ?? ''}` },
    ]);
    equal((await session.record())?.stop, undefined);
  });

  it('a final commit ends run and stream', async (setup) => {
    const { session } = setup;
    const { writer } = await session.claimed();
    const error = { code: 'provider_error', message: 'It failed.', retryable: true };
    const row = { role: 'tool' as const, toolCallId: 'x', toolName: 't', error: 'e' };
    await session.commit(writer, {
      final: { status: 'failed', error },
      outcome: { kind: 'ended', step: 1, status: 'failed', error },
      calls: [server('x', { row })],
    });
    includes(await session.record(), {
      status: 'failed',
      stream: 'failed',
      error,
    });
    equal(await typesOf(setup), ['step_end', 'error', 'stream_end']);
    includes(await session.rows(), [{ role: 'user' }, { role: 'assistant' }, { role: 'tool' }]);
  });

  it('a commit with only settled calls leads to the next step', async ({ session }) => {
    const { runId } = await session.newRun();
    const row = { role: 'tool' as const, toolCallId: 'x', toolName: 't', error: 'unknown' };
    includes(await session.ask(runId, 1, [server('x', { row })]), { paused: false });
    includes(await session.claim(session.writer(runId, 2, 1)), { kind: 'claimed', rowCount: 3 });
  });

  it('a writer that has seen more than the store holds writes nothing', async ({ session }) => {
    const { writer } = await session.claimed();
    const before = await session.view();
    equal(await session.commit(writer, { known: 7 }), { kind: 'rewound' });
    equal(await session.view(), before);
  });

  it('a committed reply stays when another attempt claims the step later', async ({ session }) => {
    const { runId, writer } = await session.claimed();
    await session.say(writer, 1, 'kept');
    await session.commit(writer, { calls: [server('s')] });
    const before = await session.log();
    await session.claim(session.writer(runId, 1, 99));
    equal(await session.log(), before);
  });
});

it('compact: the usage of a failed summary counts, unless another attempt has taken over', async (setup) => {
  const { store, session } = setup;
  const { runId, writer } = await session.claimed();
  equal(await store.steps.compact({ writer, usage: FIRST }), { kind: 'none' });
  await session.claim(session.writer(runId, 1, 2));
  equal(await store.steps.compact({ writer, usage: SECOND }), { kind: 'fenced' });
  includes((await store.runs.read(session.id, runId))?.usage, FIRST);
});

describe('discard', () => {
  it('a discard withdraws what the attempt wrote and counts a failure once', async (setup) => {
    const { store, session } = setup;
    const { runId, writer } = await session.claimed();
    await session.say(writer, 1, 'gone');
    const discard = (failure: number): Promise<unknown> =>
      store.steps.discard({ writer, failure, reason: 'provider_error', now: 1 });
    equal(await discard(1), { kind: 'discarded', failures: 1 });
    await session.say(writer, 2, 'again');
    equal(await discard(1), { kind: 'discarded', failures: 1 });
    equal(textIn(await session.log()), 'again');
    equal(await discard(2), { kind: 'discarded', failures: 2 });
    equal(textIn(await session.log()), '');
    includes(await session.messages('step_discarded'), [
      { reason: 'provider_error', stepId: 's1' },
      { reason: 'provider_error' },
    ]);
    // The failure count survives the worker.
    includes(await session.claim(session.writer(runId, 1, 2)), { failures: 2 });
  });

  it('a discard names the model that attempts at the same step begin with', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    const claim = await session.claim(writer);
    ok(claim.kind === 'claimed' && claim.fallback === undefined);
    const discard = { writer, reason: 'provider_error', now: 1 };
    await store.steps.discard({ ...discard, failure: 1 });
    await store.steps.discard({ ...discard, failure: 2, fallback: 1 });
    await store.steps.discard({ ...discard, failure: 2, fallback: 2 });
    await store.steps.discard({ ...discard, failure: 3 });
    const young = session.writer(runId, 1, 2);
    includes(await session.claim(young), { failures: 3, fallback: { index: 1, before: 2 } });
    await session.commit(young);
    const { runId: another } = await session.newRun();
    const next = await session.claim(session.writer(another, 1, 1));
    ok(next.kind === 'claimed' && next.fallback === undefined);
  });

  it('a discard with a wait shows it in the record until the step is claimed again, and no model streams', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    includes(await session.claim(writer), { failures: 0, failingForMs: 0, waits: 0 });
    const discard = { writer, reason: 'provider_overloaded', now: 1 };
    await store.steps.discard({ ...discard, failure: 1 });
    equal((await session.record())?.waitsUntil, undefined);
    const failedAt = Date.now();
    while (Date.now() < failedAt + 5) await Promise.resolve();
    await store.steps.discard({ ...discard, failure: 2, waitMs: 60_000 });
    const { waitsUntil = 0, status, runStartedAt } = (await session.record()) ?? {};
    equal(status, 'running');
    ok(Math.abs(waitsUntil - Date.now() - 60_000) < 10_000);
    const later = { known: 0, now: Date.now() + 60_000 };
    const claim = await store.steps.claim({ writer: session.writer(runId, 1, 2), ...later });
    includes(claim, { failures: 2, waits: 1 });
    // The wait was part of its work.
    equal((await session.record())?.runStartedAt, runStartedAt);
    ok(claim.kind === 'claimed' && claim.failingForMs >= 5 && claim.failingForMs < 60_000);
    equal((await session.record())?.waitsUntil, undefined);
    equal((await session.stop()).kind, 'stopping');
  });

  it('a stop ends a run at once after a discard with a wait', async ({ store, session }) => {
    const { writer } = await session.claimed();
    await store.steps.discard({ writer, failure: 1, reason: 'x', waitMs: 60_000, now: 1 });
    includes(await session.stop(), { kind: 'ended', waited: true });
    includes(await session.record(), { status: 'interrupted', stream: 'ended' });
    includes(await session.newRun(), { turn: 2 });
    equal((await session.record())?.waitsUntil, undefined);
  });

  it('a stop after the wait finds a model that may speak', async ({ store, session }) => {
    const { writer } = await session.claimed();
    await store.steps.discard({ writer, failure: 1, reason: 'x', waitMs: 1, now: 1 });
    const { waitsUntil = 0 } = (await session.record()) ?? {};
    while (Date.now() <= waitsUntil) await Promise.resolve();
    equal((await session.stop()).kind, 'stopping');
  });

  it('a fenced attempt and an ended run are refused', async ({ store, session }) => {
    const { runId, writer } = await session.claimed();
    const young = session.writer(runId, 1, 2);
    await session.claim(young);
    await session.say(young, 1, 'kept');
    const discard = { failure: 1, reason: 'x', now: 1 };
    equal(await store.steps.discard({ ...discard, writer }), { kind: 'fenced' });
    await session.commit(young);
    equal(await store.steps.discard({ ...discard, writer: young }), { kind: 'superseded' });
    equal((await session.messages('text_delta')).length, 1);
  });
});

describe('compact', () => {
  const usage = { inputTokens: 5, outputTokens: 2, costMicroUsd: 7 };
  const first = { rows: 3, summary: '"so far" – { }' };
  const other = { rows: 3, summary: 'otherwise' };

  it('the first summary of a step counts, whichever attempt asks, and is charged once', async (setup) => {
    const { store, session } = setup;
    const { runId, writer } = await session.claimed();
    equal(await store.steps.compact({ writer }), { kind: 'none' });
    const kept = { kind: 'kept', compaction: first };
    equal(await store.steps.compact({ writer, compaction: first, usage }), kept);
    equal(await store.steps.compact({ writer, compaction: other, usage }), kept);
    const next = session.writer(runId, 1, 2);
    includes(await session.claim(next), { usage });
    equal(await store.steps.compact({ writer: next }), kept);
    await session.commit(next, { calls: [server('c')] });
    await session.carryOut(runId, 1, 'c', 1);
    const second = session.writer(runId, 2, 1);
    await session.claim(second);
    equal(await store.steps.compact({ writer: second }), { kind: 'none' });
  });

  it('an attempt that was replaced keeps none, and neither does a run that is over', async (setup) => {
    const { store, session } = setup;
    const { runId, writer } = await session.claimed();
    await session.claim(session.writer(runId, 1, 2));
    equal(await store.steps.compact({ writer, compaction: first, usage }), { kind: 'fenced' });
    equal(await store.steps.compact({ writer }), { kind: 'none' });
    await session.end(runId, 'completed');
    equal(await store.steps.compact({ writer, compaction: first }), { kind: 'superseded' });
    const run = await session.newRun('u2');
    const after = session.writer(run.runId, 1, 3);
    await session.claim(after);
    equal(await store.steps.compact({ writer: after }), { kind: 'none' });
  });
});

describe('take over', () => {
  it('the writer is fenced off, its entries stay, and another one commits in its place', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.newRun();
    const silent = session.writer(runId, 1, 5);
    await session.claim(silent);
    await session.say(silent, 1, 'Last words');
    const input = { sessionId: session.id, runId, name: silent.name };
    equal(await store.steps.takeOver(input), { kind: 'taken', token: 6, first: 0 });
    equal(await session.say(silent, 2, ' and more'), { kind: 'fenced' });
    equal(await session.commit(silent), { kind: 'fenced' });
    includes(await session.commit({ ...silent, token: 6 }), { kind: 'committed' });
    equal(textIn(await session.log()), 'Last words');
    equal(await store.steps.takeOver(input), { kind: 'superseded' });
  });

  it('the reply says where the fenced attempt begins', async ({ store, session }) => {
    const { runId, writer: lost } = await session.claimed();
    await session.say(lost, 1, 'lost');
    const { name } = lost;
    const silent = { ...lost, token: 2 };
    await session.claim(silent);
    const before = (await session.record())?.sequence;
    await session.say(silent, 1, 'partial');
    const taken = await store.steps.takeOver({ sessionId: session.id, runId, name });
    equal(taken, { kind: 'taken', token: 3, first: before });
  });

  it('the next attempt withdraws what the writer wrote', async ({ store, session }) => {
    const { runId } = await session.newRun();
    const silent = session.writer(runId, 1, 5);
    await session.claim(silent);
    await session.say(silent, 1, 'gone');
    await store.steps.takeOver({ sessionId: session.id, runId, name: silent.name });
    includes(await session.claim(session.writer(runId, 1, 7)), { kind: 'claimed' });
    equal(textIn(await session.log()), '');
    equal((await session.messages('stream_resync')).length, 1);
  });

  it('nothing is taken over without a writer, and other runs are left alone', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.newRun();
    const input = { sessionId: session.id, runId, name: 'm1' };
    equal(await store.steps.takeOver(input), { kind: 'nothing' });
    await session.claim(session.writer(runId, 1, 1));
    equal(await store.steps.takeOver({ ...input, runId: 'another' }), { kind: 'superseded' });
    equal(await store.steps.takeOver({ ...input, sessionId: 'unknown' }), { kind: 'superseded' });
    includes(await session.say(session.writer(runId, 1, 1), 1, 'on'), { kind: 'appended' });
  });
});

describe('usage', () => {
  it('usage of steps and discarded attempts is added up, once each', async ({ store, session }) => {
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    const claimed = await session.claim(writer);
    equal('usage' in claimed, false);
    equal((await session.record())?.usage, undefined);
    const failure = { writer, failure: 1, reason: 'provider_error', usage: FIRST, now: 1 };
    await store.steps.discard(failure);
    await store.steps.discard(failure);
    const asked = { calls: [server('x')], usage: SECOND };
    await session.commit(writer, { ...asked, finishReason: 'tool-calls' });
    await session.commit(writer, asked);
    includes(await session.record(), { usage: BOTH, finishReason: 'tool-calls' });
    includes(await store.runs.current(session.id), { usage: BOTH, finishReason: 'tool-calls' });
    await session.carryOut(runId, 1, 'x', 1);
    includes(await session.claim(session.writer(runId, 2, 1)), { kind: 'claimed', usage: BOTH });
  });

  it('usage belongs to its run', async ({ session }) => {
    const { writer } = await session.claimed();
    await session.commit(writer, { usage: FIRST, finishReason: 'length' });
    await session.newRun();
    includes(await session.runs(), [{ usage: FIRST, finishReason: 'length' }, {}]);
    const record = await session.record();
    equal([record?.usage, record?.finishReason], [undefined, undefined]);
  });
});

describe('output', () => {
  it('the output is written by the change that ends the run, after the results of its siblings', async (setup) => {
    const { store, session } = setup;
    const { runId, writer } = await session.claimed();
    await session.commit(writer, { calls: [server('x')], output: OUTPUT });
    equal(await session.messages('output'), []);
    equal((await session.record())?.output, OUTPUT);
    await session.carryOut(runId, 1, 'x', 1);
    await session.end(runId, 'completed');
    const types = (await session.log()).map(({ message }) => message.type);
    equal(types.slice(-3), ['tool_end', 'output', 'stream_end']);
    equal(
      (await session.messages('output')).map(({ output }) => output),
      [OUTPUT],
    );
    equal(
      (await session.messages('stream_end')).map((end) => end.finalOutput),
      [OUTPUT],
    );
    equal((await store.runs.current(session.id))?.output, OUTPUT);
  });

  it('the output of a step that ends the run is written at once and may be null', async (setup) => {
    const { session } = setup;
    const { writer } = await session.claimed();
    await session.commit(writer, { output: null });
    equal(
      (await session.messages('output')).map(({ output }) => output),
      [null],
    );
    equal((await session.record())?.output, null);
    await session.newRun();
    equal('output' in ((await session.record()) ?? {}), false);
  });

  it('the output is kept however the run ends', async ({ session }) => {
    const { writer } = await session.claimed();
    await session.commit(writer, { calls: [client('c')], output: OUTPUT });
    await session.stop();
    equal((await session.messages('output')).length, 1);
    includes(await session.messages('stream_end'), [{ status: 'interrupted' }]);
  });
});
