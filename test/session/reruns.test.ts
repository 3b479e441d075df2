import { equal, includes } from '../../store/conformance/assertions.js';
import { approval, client, server, textIn, userMessage } from '../../store/conformance/fixtures.js';
import type { SessionDriver } from '../../store/conformance/session-driver.js';
import { conclude, playTurn } from '../../store/conformance/session/played-turns.js';
import { it } from './rules.js';

/** Stops a run while its model streams; the partial text is kept. */
async function interrupt(session: SessionDriver, runId: string, step: number): Promise<void> {
  const writer = session.writer(runId, step, 1);
  await session.claim(writer);
  await session.say(writer, 1, 'half a sen');
  await session.stop();
  await session.commit(writer, { answersStop: true, final: { status: 'interrupted' } });
}

describe('resume run', () => {
  it('a new run continues the same turn after the last committed step', async ({ session }) => {
    const first = await session.newRun();
    const row = { role: 'tool' as const, toolCallId: 'c', toolName: 't', error: 'x' };
    await session.ask(first.runId, 1, [server('c', { row })]);
    await interrupt(session, first.runId, 2);
    const before = await session.record();
    const resumed = await session.resume({ nonce: 'again', now: 77, by: 'ann' });
    equal(resumed, {
      kind: 'resumed',
      run: {
        ...first,
        runId: `${session.id}:2-again`,
        startedAt: 77,
        from: { step: 2, known: before?.sequence },
      },
    });
    // The reply to the request was lost.
    equal(await session.resume({ nonce: 'again', now: 78 }), resumed);
    includes(await session.record(), {
      status: 'starting',
      stream: 'active',
      turn: 1,
      messageId: first.messageId,
      turnStartSequence: 0,
      turnStartRow: 0,
      committedStep: 2,
      claimedStep: 2,
      runMode: 'continue',
      runBy: 'ann',
      runFromStep: 2,
      runStartSequence: before?.sequence,
    });
    equal((await session.record())?.interrupted, undefined);
    includes(await session.messages('run_resumed'), [
      {
        runId: `${session.id}:2-again`,
        fromCheckpointId: before?.checkpointId,
        fromStepCount: 2,
        mode: 'continue',
      },
    ]);
    // The model gets the whole transcript, and step numbers continue.
    includes(await session.claim(session.writer(`${session.id}:2-again`, 3, 1)), {
      kind: 'claimed',
      rowCount: 4,
      messageId: first.messageId,
    });
    includes(await session.commit(session.writer(`${session.id}:2-again`, 3, 1)), {
      kind: 'committed',
    });
    includes(await session.newRun(), { messageId: 'msg-3', turn: 2 });
  });

  it('an active or waiting run is left alone', async ({ session }) => {
    equal(await session.resume(), { kind: 'not_found' });
    const { runId } = await session.newRun();
    equal(await session.resume(), { kind: 'active', runId });
    await session.ask(runId, 1, [approval('a')]);
    equal(await session.resume(), { kind: 'active', runId });
  });

  it('a run that ended for good, and one that is not the newest, are refused', async (setup) => {
    const { session } = setup;
    const first = await session.newRun();
    await session.stop();
    const second = await session.newRun();
    await session.end(second.runId, 'completed');
    equal(await session.resume({ runId: first.runId }), {
      kind: 'stale_run',
      runId: second.runId,
    });
    equal(await session.resume(), { kind: 'final', status: 'completed' });
    await session.newRun();
    await session.stop({ mode: 'abort' });
    equal(await session.resume(), { kind: 'final', status: 'aborted' });
    for (const retryable of [false, true]) {
      const { runId } = await session.newRun();
      await session.end(runId, 'failed', { error: { code: 'x', message: 'y', retryable } });
      const result = await session.resume();
      equal(result.kind, retryable ? 'resumed' : 'final');
    }
  });

  it('the new run continues after a reply that was rebuilt from the log', async ({ session }) => {
    const { runId, messageId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    await session.say(writer, 1, 'half');
    await session.stop();
    const parts = [{ type: 'text' as const, text: 'half' }];
    const row = { role: 'assistant' as const, messageId, runId, step: 1, parts };
    await session.end(runId, 'interrupted', { row: { ...row, interrupted: 'interrupt' } });
    includes(await session.resume(), { run: { from: { step: 1 } } });
    equal((await session.record())?.committedStep, 1);
    equal(textIn(await session.log()), 'half');
  });

  it('an unfinished step is withdrawn and repeated', async ({ session }) => {
    const { runId, writer } = await session.claimed();
    await session.say(writer, 1, 'never committed');
    await session.stop();
    await session.end(runId, 'interrupted');
    const resumed = await session.resume({ nonce: 'n' });
    includes(resumed, { kind: 'resumed' });
    equal(textIn(await session.log()), '');
    includes(await session.claim(session.writer(`${session.id}:2-n`, 1, 1)), { kind: 'claimed' });
  });

  it('entries of earlier steps stay', async ({ session }) => {
    const { runId, writer } = await session.claimed();
    await session.say(writer, 1, 'early');
    const row = { role: 'tool' as const, toolCallId: 'c', toolName: 't', error: 'x' };
    await session.commit(writer, { calls: [server('c', { row })] });
    const lost = session.writer(runId, 2, 1);
    await session.claim(lost);
    await session.say(lost, 1, 'gone');
    await session.stop();
    await session.end(runId, 'interrupted');
    includes(await session.resume(), { run: { from: { step: 1 } } });
    equal(textIn(await session.log()), 'early');
  });

  it('calls that waited at the stop are settled, and the turn can be resumed repeatedly', async (setup) => {
    const { session } = setup;
    let { runId } = await session.newRun();
    await session.ask(runId, 1, [approval('a'), client('c')]);
    await session.stop();
    for (const step of [2, 3]) {
      const resumed = await session.resume();
      if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
      equal(resumed.run.from?.step, step - 1);
      ({ runId } = resumed.run);
      await interrupt(session, runId, step);
    }
    includes(await session.rows(), [
      { role: 'user' },
      { role: 'assistant', step: 1 },
      { role: 'tool', toolCallId: 'a', errorCode: 'run_stopped' },
      { role: 'tool', toolCallId: 'c', errorCode: 'run_stopped' },
      { role: 'assistant', step: 2 },
      { role: 'assistant', step: 3 },
    ]);
    includes(await session.runs(), [
      { mode: 'new', turn: 1 },
      { mode: 'continue', turn: 1 },
      { mode: 'continue', turn: 1, status: 'interrupted' },
    ]);
  });
});

describe('rewind, an edited message', () => {
  it('other messages replace one message, and everything after it is dropped', async (setup) => {
    const { session } = setup;
    await playTurn(session, 'u1');
    await playTurn(session, 'u2');
    await playTurn(session, 'u3');
    const context = { ...userMessage('h2'), hidden: true };
    const messages = [context, userMessage('u2', 'worded otherwise')];
    const result = await session.retry({ messageId: 'u2', messages, nonce: 'edit' });
    includes(result, {
      kind: 'rewound',
      run: { runId: `${session.id}:4-edit`, turn: 2, messageId: 'msg-3' },
    });
    equal(await session.retry({ messageId: 'u2', messages, nonce: 'edit' }), result);
    includes((await session.rows()).slice(5), [
      { role: 'assistant', step: 3 },
      { role: 'user', id: 'h2' },
      { role: 'user', id: 'u2', parts: [{ type: 'text', text: 'worded otherwise' }] },
    ]);
    const all = await session.rows();
    equal(await session.rows(-2), all.slice(-2));
    equal(await session.rows(-100), all);
    includes(await session.messages('stream_resync'), [{ reason: 'retry', messageCount: 8 }]);
    equal(await session.accepted(['u1', 'h2', 'u2', 'u3']), ['u1', 'h2', 'u2']);
    includes(await session.begin({ messages: [userMessage('u2')] }), { kind: 'conflict' });
    if (result.kind !== 'rewound') throw new Error(result.kind);
    await conclude(session, result.run, 1);
    includes(await session.newRun('u4'), { turn: 3, messageId: 'msg-5' });
  });

  it('another message replaces the first one, or one of several', async ({ session }) => {
    await playTurn(session, 'u1');
    const edited = [userMessage('u1', 'otherwise')];
    const first = await session.retry({ messageId: 'u1', messages: edited });
    if (first.kind !== 'rewound') throw new Error(first.kind);
    includes(await session.rows(), [{ id: 'u1' }]);
    await conclude(session, first.run, 1);
    const run = await session.newRun({ messages: [userMessage('u2'), userMessage('u3')] });
    await conclude(session, run, 1);
    includes(await session.retry({ messageId: 'u3', messages: [userMessage('u3', 'now')] }), {
      run: { turn: 2, messageId: 'msg-4' },
    });
    includes(await session.record(), { turnStartRow: 2 });
    includes((await session.rows()).slice(2), [
      { id: 'u2' },
      { id: 'u3', parts: [{ type: 'text', text: 'now' }] },
    ]);
    await session.stop();
    includes(await session.retry({ messageId: 'u2', messages: [userMessage('u2', 'now')] }), {
      run: { turn: 2, messageId: 'msg-3' },
    });
  });

  it('a reply cannot be replaced, and no message can be stored twice', async ({ session }) => {
    const first = await playTurn(session, 'u1');
    await playTurn(session, 'u2');
    const run = await session.newRun('u3');
    await session.enqueue('u4');
    await session.end(run.runId, 'completed');
    const before = await session.view();
    const messages = [userMessage('u2', 'otherwise')];
    equal(await session.retry({ messageId: first.messageId, messages }), {
      kind: 'message_not_found',
    });
    equal(await session.retry({ messageId: 'u9', messages }), { kind: 'message_not_found' });
    equal(await session.retry({ messageId: 'msg-2' }), { kind: 'message_not_found' });
    equal(
      await session.retry({ messageId: 'u2', messages: [userMessage('u1', 'x'), ...messages] }),
      { kind: 'conflict', messageId: 'u1' },
    );
    equal(await session.retry({ messageId: 'u2', messages: [...messages, userMessage('u4')] }), {
      kind: 'conflict',
      messageId: 'u4',
    });
    equal(await session.view(), before);
  });
});

describe('rewind, while a run is active that is to be stopped for it', () => {
  it('it is busy only if nothing else is refused', async ({ store, session }) => {
    const { runId } = await session.claimed();
    const retry = { sessionId: session.id, runId, nonce: 'n', now: 1, mode: 'retry' as const };
    const other = { ...retry, messageId: 'u9' };
    equal(await store.runs.rewind(other), { kind: 'busy', runId });
    equal(await store.runs.rewind({ ...other, stops: runId }), { kind: 'message_not_found' });
    equal(await store.runs.rewind({ ...retry, stops: runId }), { kind: 'busy', runId });
  });
});

describe('end', () => {
  it('a run ends once, and later ends return its status', async ({ session }) => {
    const { runId } = await session.newRun();
    equal(await session.end(runId, 'completed'), { kind: 'ended', status: 'completed' });
    equal(await session.end(runId, 'failed'), { kind: 'ended', status: 'completed' });
    includes(await session.messages('stream_end'), [{ status: 'completed' }]);
    await session.newRun();
    equal(await session.end(runId, 'failed'), { kind: 'superseded' });
  });

  it('a run that fails after it was asked to stop has failed', async ({ session }) => {
    const { runId } = await session.claimed();
    await session.stop();
    equal(await session.end(runId, 'failed'), { kind: 'ended', status: 'failed' });
  });

  it('a run ends without its silent writer, which is fenced off; its partial reply is kept', async (setup) => {
    const { session } = setup;
    const { runId, messageId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    await session.say(writer, 1, 'half a sen');
    await session.stop({ mode: 'abort', reason: 'no answer' });
    const parts = [{ type: 'text' as const, text: 'half a sen' }];
    const row = { role: 'assistant' as const, messageId, runId, step: 1, parts };
    // The stop record decides the status, not the caller.
    equal(await session.end(runId, 'interrupted', { row: { ...row, interrupted: 'abort' } }), {
      kind: 'ended',
      status: 'aborted',
    });
    equal(await session.say(writer, 2, 'tence'), { kind: 'superseded' });
    equal(await session.commit(writer), { kind: 'superseded' });
    includes(await session.rows(1), [{ parts }]);
    includes(await session.record(), { interrupted: { mode: 'abort', reason: 'no answer' } });
    includes(await session.newRun(), { messageId: 'msg-3' });
  });

  it('a turn that failed or was aborted without text counts as a visible message, too', async (setup) => {
    const { session } = setup;
    const failed = await session.newRun('u1');
    await session.end(failed.runId, 'failed', {
      error: { code: 'provider_error', message: 'No.', retryable: false },
    });
    const aborted = await session.newRun('u2');
    await session.stop({ mode: 'abort' });
    includes(await session.begin({ messages: [userMessage('u3')] }), {
      run: { messageId: 'msg-5' },
    });
    includes(await session.rows(), [
      { id: 'u1' },
      { role: 'assistant', messageId: 'msg-1', runId: failed.runId, display: true, parts: [] },
      { id: 'u2' },
      { role: 'assistant', messageId: 'msg-3', runId: aborted.runId, display: true, parts: [] },
      { id: 'u3' },
    ]);
  });

  it('the end of a failed run settles calls as failed and keeps the error', async ({ session }) => {
    const { runId } = await session.asked(server('s'), approval('a'));
    await session.start(runId, 1, 's');
    const error = { code: 'framework_run_lost', message: 'Lost.', retryable: true };
    await session.end(runId, 'failed', { error });
    includes(await session.messages('tool_end'), [
      { errorCode: 'tool_outcome_unknown' },
      { errorCode: 'run_failed' },
    ]);
    includes(await session.messages('error'), [
      { error: 'Lost.', code: 'framework_run_lost', recoverable: false },
    ]);
    includes(await session.record(), { stream: 'failed', error });
  });

  it('an aborted run keeps the error that viewers get', async ({ session }) => {
    const { runId } = await session.newRun();
    await session.stop({ mode: 'abort', reason: 'no answer' });
    const [error] = await session.messages('error');
    const expected = { code: 'framework_cancelled', message: 'The run was aborted.' };
    includes(error, { error: expected.message, code: expected.code, recoverable: false });
    includes(await session.record(), { status: 'aborted', error: expected });
    includes(await session.runs(), [{ runId, error: expected }]);
    await session.newRun();
    equal((await session.record())?.error, undefined);
  });

  it('entries are numbered above what the run has seen', async ({ session }) => {
    const { runId } = await session.newRun();
    await session.end(runId, 'failed', { floor: 500 });
    equal(
      (await session.log()).every(({ sequence }) => sequence > 500),
      true,
    );
    const { startSequence } = await session.newRun();
    equal((await session.record())?.sequence, startSequence);
    equal(startSequence > 500, true);
  });
});
