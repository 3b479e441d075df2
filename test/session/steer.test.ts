import { equal, includes, refuses } from '../../store/conformance/assertions.js';
import {
  approval,
  assistantRow,
  client,
  server,
  userMessage,
} from '../../store/conformance/fixtures.js';
import type { SessionDriver } from '../../store/conformance/session-driver.js';
import { childAt, grow, heldCall } from '../../store/conformance/tree.js';
import { it } from './rules.js';

const USAGE = { inputTokens: 7, outputTokens: 3, costMicroUsd: 2 };

async function errorCodes(session: SessionDriver): Promise<(string | undefined)[]> {
  return (await session.messages('tool_end')).map(({ errorCode }) => errorCode);
}

describe('steer', () => {
  it('a steering message enters the next step as its own turn, after the results of the step before', async (setup) => {
    const { session } = setup;
    const { runId } = await session.asked(server('s'));
    includes(await session.steer('u2'), { kind: 'steered', runId });
    await session.steer('u3');
    await session.carryOut(runId, 1, 's', 'done');
    const before = (await session.log()).at(-1)?.sequence;

    const writer = session.writer(runId, 2, 2);
    includes(await session.claim(writer), { rowCount: 5, messageId: 'msg-4' });
    includes(await session.rows(1), [
      { role: 'assistant', step: 1 },
      { role: 'tool', toolCallId: 's' },
      { role: 'user', id: 'u2' },
      { role: 'user', id: 'u3' },
    ]);
    includes(await session.record(), {
      runId,
      turn: 2,
      messageId: 'msg-4',
      turnStartRow: 3,
      turnStartSequence: before,
      committedStep: 1,
      queued: 0,
    });
    includes((await session.log()).at(-1)?.message, {
      type: 'turn_started',
      step: 2,
      runId,
      messageId: 'msg-4',
      messageIds: ['u2', 'u3'],
      reason: 'steer',
    });
    await session.commit(writer);
    includes(await session.newRun('u4'), { messageId: 'msg-6', turn: 3 });
  });

  it('a steering message waits until the current reply has begun', async ({ session }) => {
    const { runId } = await session.newRun('u1');
    await session.steer('u2');
    const writer = session.writer(runId, 1, 1);
    includes(await session.claim(writer), { rowCount: 1, messageId: 'msg-1' });
    includes(await session.record(), { queued: 1, turn: 1 });
  });

  it('a steering message gives a run that would end another step', async ({ session }) => {
    const { runId, writer } = await session.claimed();
    await session.steer('u2');
    // The result would end the run; the one that counts is that of its last step.
    const steered = await session.commit(writer, { output: 'too early' });
    includes(steered, { kind: 'steered', at: { next: { do: 'model', step: 2 } } });
    includes(await session.record(), { status: 'running', stream: 'active' });
    equal(await session.messages('stream_end'), []);
    // A repeated commit returns the same decision.
    equal(await session.commit(writer), {
      kind: 'done',
      outcome: { kind: 'calls', step: 1, calls: [] },
    });
    const next = session.writer(runId, 2, 2);
    includes(await session.claim(next), { kind: 'claimed', messageId: 'msg-3', rowCount: 3 });
    includes(await session.commit(next), { kind: 'committed' });
    equal(await session.queue(), []);
  });

  it('steering messages of a run that fails or is stopped are queued before others', async (setup) => {
    const { session } = setup;
    const { writer } = await session.claimed();
    await session.enqueue('u2');
    await session.steer('u3');
    await session.steer('u4');
    includes(await session.queue(), [
      { id: 'u3', mode: 'steer' },
      { id: 'u4', mode: 'steer' },
      { id: 'u2', mode: 'queue' },
    ]);
    await session.commit(writer, {
      final: {
        status: 'failed',
        error: { code: 'provider_error', message: 'No.', retryable: false },
      },
    });
    includes(await session.queue(), [
      { id: 'u3', mode: 'queue' },
      { id: 'u4', mode: 'queue' },
      { id: 'u2', mode: 'queue' },
    ]);
    // They steer no later run; each gets its own turn.
    const begun = await session.beginNext();
    if (begun.kind !== 'begun') throw new Error(begun.kind);
    const second = session.writer(begun.run.runId, 1, 9);
    await session.claim(second);
    includes(await session.commit(second), { kind: 'committed', next: true });
  });

  it('a steering message is queued after an interrupting one', async ({ session }) => {
    const { runId } = await session.newRun('u1');
    await session.claim(session.writer(runId, 1, 1));
    await session.steer('u2');
    await session.begin({ messages: [userMessage('u3')], policy: 'interrupt' });
    await session.end(runId, 'interrupted');
    includes(await session.queue(), [
      { id: 'u3', mode: 'interrupt' },
      { id: 'u2', mode: 'queue' },
    ]);
  });

  it('a later attempt of the same step does not take in a steering message', async (setup) => {
    const { session } = setup;
    const { runId } = await session.asked(
      server('c', {
        row: { role: 'tool', toolCallId: 'c', toolName: 't', error: 'x' },
      }),
    );
    const first = session.writer(runId, 2, 2);
    await session.claim(first);
    await session.say(first, 1, 'half');
    await session.steer('u2');
    const again = session.writer(runId, 2, 3);
    includes(await session.claim(again), { messageId: 'msg-1' });
    includes(await session.commit(again, { row: assistantRow(again, []) }), { kind: 'steered' });
    includes(await session.record(), { queued: 1 });
  });
});

describe('legs', () => {
  it('each resume begins a leg, with what the run had used before', async ({ session }) => {
    const { runId, writer: first } = await session.claimed();
    equal((await session.record())?.leg, undefined);
    await session.commit(first, { calls: [approval('a')], usage: USAGE });
    equal((await session.record())?.leg, undefined);
    await session.decide(runId, 'a', false, { now: 1_000 });
    const second = { number: 2, at: 1_000, used: USAGE };
    includes(await session.record(), { leg: second });
    await session.ask(runId, 2, [client('b')]);
    // While the run waits, its leg is the one that asked.
    includes(await session.record(), { leg: second });
    await session.answer(runId, 'b', { output: 1 });
    includes(await session.record(), { leg: { number: 3, used: USAGE } });
  });

  it('an answer while siblings are running begins none', async ({ session }) => {
    const { runId } = await session.asked(server('s'), approval('a'));
    await session.start(runId, 1, 's');
    await session.decide(runId, 'a', true);
    equal((await session.record())?.leg, undefined);
  });

  it('another run begins with its first leg', async ({ session }) => {
    const { runId } = await session.asked(approval('a'));
    await session.decide(runId, 'a', false);
    await session.end(runId, 'completed');
    await session.newRun();
    equal((await session.record())?.leg, undefined);
  });

  it('a sub-agent begins its legs with its conversation', async (setup) => {
    const { store } = setup;
    const tree = await grow(setup, 1, () => []);
    const { driver, ref } = childAt(tree, 0);
    await driver.ask(ref.runId, 1, [heldCall(ref.runId, 'a')]);
    await tree.root.decide(ref.runId, 'a', true, { now: 2_000 });
    for (const id of [tree.root.id, driver.id]) {
      includes(await store.sessions.read(id), { leg: { number: 2, at: 2_000 } });
    }
  });
});

describe('stop', () => {
  it('a paused run ends at once, and its waiting calls are settled', async ({ session }) => {
    const { runId } = await session.asked(approval('a'));
    equal(await session.stop({ reason: 'bye' }), { kind: 'ended', runId });
    includes(await session.record(), { status: 'interrupted', stream: 'ended' });
    equal(await errorCodes(session), ['run_stopped']);
    includes(await session.messages('run_interrupted'), [{ reason: 'bye' }]);
    equal((await session.log()).at(-1)?.message.type, 'stream_end');
  });

  it('a run between steps ends at once: started calls are unknown, others not executed', async (setup) => {
    const { session } = setup;
    const { runId } = await session.asked(server('s'), server('t'));
    await session.start(runId, 1, 's');
    await session.stop();
    equal(await errorCodes(session), ['tool_outcome_unknown', 'run_stopped']);
    equal(await session.finishCall(runId, 1, 's', 'late'), { kind: 'already_completed' });
  });

  it('while a model streams, a record is left', async (setup) => {
    const { session } = setup;
    const { runId } = await session.claimed();
    equal(await session.stop({ by: 'ann' }), { kind: 'stopping', runId });
    includes(await session.record(), {
      status: 'running',
      stop: { mode: 'interrupt', by: 'ann' },
    });
  });

  it('a repeated stop keeps the first reason, but an abort replaces an interrupt', async (setup) => {
    const { session } = setup;
    await session.claimed();
    const stopOf = async (): Promise<unknown> => (await session.record())?.stop;
    await session.stop({ reason: 'first' });
    await session.stop({ reason: 'second' });
    equal(await stopOf(), { mode: 'interrupt', reason: 'first' });
    await session.stop({ mode: 'abort', reason: 'third' });
    equal(await stopOf(), { mode: 'abort', reason: 'third' });
  });

  it('a stop of another run, or of an ended one, does nothing', async ({ session }) => {
    const { runId } = await session.newRun();
    equal(await session.stop({ runId: 'other' }), { kind: 'nothing' });
    await session.ask(runId, 1, []);
    const before = await session.log();
    equal(await session.stop(), { kind: 'nothing' });
    equal(await session.log(), before);
  });

  it('it describes how the newest run was stopped, until the next run begins', async (setup) => {
    const { store, session } = setup;
    await refuses(store.runs.interruption(session.id), 'not_found');
    const { runId } = await session.newRun();
    equal(await store.runs.interruption(session.id), null);
    await session.stop({ mode: 'abort', reason: 'enough', by: 'ann' });
    includes(await store.runs.interruption(session.id), {
      runId,
      mode: 'abort',
      reason: 'enough',
      checkpointId: null,
    });
    await session.newRun();
    equal(await store.runs.interruption(session.id), null);
  });

  it('it names the checkpoint that the run keeps', async ({ store, session }) => {
    await session.asked(server('s'));
    await session.stop();
    const { checkpointId } = (await store.runs.interruption(session.id)) ?? {};
    equal(checkpointId, (await store.checkpoints.latest(session.id))?.id);
  });
});
