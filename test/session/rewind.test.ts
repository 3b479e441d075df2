import { formatCheckpointId } from '../../protocol/ids.js';
import { equal, includes } from '../../store/conformance/assertions.js';
import { approval, client, textIn, userMessage } from '../../store/conformance/fixtures.js';
import {
  conclude,
  nameOf,
  playTurn,
  runOf,
  takeStep,
} from '../../store/conformance/session/played-turns.js';
import { grow, heldCall } from '../../store/conformance/tree.js';
import { it } from './rules.js';

describe('rewind', () => {
  it('the newest turn is repeated from its beginning', async ({ session }) => {
    const first = await playTurn(session, 'u1');
    const second = await playTurn(session, 'u2');
    const before = await session.record();
    const result = await session.retry({ nonce: 'again', now: 77, by: 'ann' });
    includes(result, {
      kind: 'rewound',
      run: {
        runId: `${session.id}:3-again`,
        turn: 2,
        messageId: second.messageId,
        startedAt: 77,
      },
    });
    const record = await session.record();
    includes(record, {
      status: 'starting',
      stream: 'active',
      runMode: 'retry',
      runBy: 'ann',
      runFromStep: 0,
      committedStep: 0,
      turnStartRow: 6,
      checkpointId: `cpv1-${session.id}-s3-${first.runId.split(':')[1] ?? ''}`,
    });
    equal((record?.turnStartSequence ?? 0) > (before?.sequence ?? Infinity), true);
    includes((await session.rows()).slice(5), [
      { role: 'assistant', step: 3 },
      { role: 'user', id: 'u2' },
    ]);
    includes(await session.runs(), [
      { turn: 1, status: 'completed' },
      { turn: 2, status: 'completed', rewound: true },
      { turn: 2, mode: 'retry', by: 'ann' },
    ]);
    equal((await session.runs())[0]?.rewound, undefined);
    const text = textIn(await session.log());
    equal([text.includes(nameOf(first)), text.includes(nameOf(second))], [true, false]);
    includes(await session.messages('stream_resync'), [{ reason: 'retry', messageCount: 7 }]);
    // For a page with the earlier reply, the new reply replaces it.
    if (result.kind !== 'rewound') throw new Error(result.kind);
    await conclude(session, result.run, 1);
    includes(await session.newRun('u3'), { turn: 3, messageId: 'msg-5' });
  });

  it('a turn is found by its user message, also one that steering closed', async (setup) => {
    const { session } = setup;
    await playTurn(session, 'u1');
    const run = await session.newRun('u2');
    await takeStep(session, run, 1);
    await session.steer('u3');
    await takeStep(session, { ...run, messageId: 'msg-5', turn: 3 }, 2);
    await conclude(session, { ...run, messageId: 'msg-5' }, 3);
    includes(await session.record(), { turn: 3, messageId: 'msg-5' });
    includes(await session.retry({ messageId: 'u2' }), { run: { turn: 2, messageId: 'msg-3' } });
    includes((await session.rows()).slice(6), [{ role: 'user', id: 'u2' }]);
    equal((await session.rows()).length, 7);
    equal(await session.messages('turn_started'), []);
  });

  it('a turn that steering began is found, also after later turns', async (setup) => {
    const { store, session } = setup;
    const run = await session.newRun('u1');
    await takeStep(session, run, 1);
    await session.steer('u2');
    await takeStep(session, { ...run, messageId: 'msg-3', turn: 2 }, 2);
    await conclude(session, { ...run, messageId: 'msg-3' }, 3);
    await playTurn(session, 'u3');
    includes(await session.retry({ messageId: 'u2' }), { run: { turn: 2, messageId: 'msg-3' } });
    equal(await store.sessions.runOf(session.id, 'u1'), run.runId);
    includes((await session.rows()).slice(2), [{ role: 'tool' }, { role: 'user', id: 'u2' }]);
    equal(textIn(await session.log()).split('>').length, 2);
  });

  it('a turn that was repeated is repeated again, also after later turns', async (setup) => {
    const { streamManager, session } = setup;
    await playTurn(session, 'u1');
    const again = await session.retry();
    if (again.kind !== 'rewound') throw new Error(again.kind);
    await takeStep(session, again.run, 1);
    await conclude(session, again.run, 2);
    await playTurn(session, 'u2');
    await streamManager.cleanupToStep(session.id, 2);
    includes(await session.retry({ messageId: 'u1' }), { run: { turn: 1, messageId: 'msg-1' } });
    equal(textIn(await session.log()), '');
    includes(await session.rows(), [{ role: 'user', id: 'u1' }]);
    const { length } = await streamManager.getAllChunks(session.id);
    includes(await streamManager.inspect(session.id), { chunks: length });
  });

  it('rows from before a rewind, or of an erased session with the id, are known as such', async (setup) => {
    const { store, session } = setup;
    const known = new Set<string>();
    for (const begin of ['newRun', 'retry', 'newRun'] as const) {
      const runId =
        begin === 'newRun' ? (await session.newRun('u1')).runId : runOf(await session.retry());
      const claimed = await session.claim(session.writer(runId, 1, 1));
      if (claimed.kind !== 'claimed') throw new Error(claimed.kind);
      known.add(claimed.born);
      await session.end(runId, 'interrupted');
      if (begin === 'retry') await store.sessions.erase(session.id);
    }
    equal(known.size, 3);
  });

  it('the states of the newest twenty turns before a turn are kept', async ({ session }) => {
    for (let n = 1; n <= 22; n += 1) {
      await conclude(session, await session.newRun(`u${String(n)}`), 1);
      await session.save({ n }, n - 1);
    }
    equal(await session.retry({ messageId: 'u2' }), { kind: 'message_not_found' });
    includes(await session.retry({ messageId: 'u3' }), { kind: 'rewound' });
    includes(await session.load(), { customState: { n: 2 } });
  });

  it('a state that did not change is not restored', async ({ session }) => {
    await playTurn(session, 'u1');
    await session.save({ a: 1 }, 0);
    await playTurn(session, 'u2');
    await session.retry();
    includes(await session.load(), { customState: { a: 1 }, version: 1 });
  });

  it('staged changes stay if their calls stay', async ({ store, session }) => {
    const run = await session.newRun('u1');
    await takeStep(session, run, 1);
    const changes = { toolCallId: 'c1-1', patches: [], mergeChanges: { by: 'c1-1' } };
    await store.staging.stage(session.id, 's1', changes);
    await session.stop();
    const { id = '' } = (await store.checkpoints.latest(session.id)) ?? {};
    includes(await session.rewindTo(id), { kind: 'rewound' });
    includes(await store.documents.readState(session.id), { customState: { by: 'c1-1' } });
    await session.stop();
    includes(await session.retry(), { kind: 'rewound' });
    equal((await store.documents.readState(session.id)).customState, {});
  });

  it('an impossible rewind is refused and changes nothing', async ({ session }) => {
    equal(await session.retry(), { kind: 'not_found' });
    const { runId } = await session.newRun();
    equal(await session.retry(), { kind: 'busy', runId });
    await session.ask(runId, 1, [approval('a')]);
    equal(await session.retry(), { kind: 'busy', runId });
    await session.stop();
    const before = await session.view();
    equal(await session.retry({ messageId: 'unknown' }), { kind: 'message_not_found' });
    equal(await session.rewindTo('cpv1-other'), { kind: 'checkpoint_not_found' });
    // Another request was faster.
    equal(await session.retry({ runId: `${session.id}:0-older` }), { kind: 'stale_run', runId });
    equal(await session.view(), before);
  });

  it('the session returns to a checkpoint with the state of that moment', async (setup) => {
    const { store, session } = setup;
    const run = await session.newRun('u1');
    await session.save({ step: 0 }, 0);
    await takeStep(session, run, 1);
    await session.save({ step: 1 }, 1);
    await takeStep(session, run, 2);
    await session.save({ step: 2 }, 2);
    await conclude(session, run, 3);
    const { checkpoints } = await store.checkpoints.list(session.id);
    const id = checkpoints.at(-1)?.id ?? '';
    includes(await store.documents.readState(session.id, 'turn'), { customState: { step: 0 } });
    const before = await session.record();
    const result = await session.rewindTo(id, { nonce: 'back' });
    includes(result, {
      kind: 'rewound',
      run: { runId: `${session.id}:2-back`, turn: 1, messageId: 'msg-1', startSequence: 0 },
    });
    const record = await session.record();
    includes(record, { runMode: 'from_checkpoint', runFromStep: 1, committedStep: 1 });
    equal(record?.born === before?.born, false);
    includes(await session.load(), { customState: { step: 1 }, version: 4 });
    includes(await store.documents.readState(session.id, 'turn'), { customState: { step: 0 } });
    equal((await session.runs())[0]?.rewound, undefined);
    includes(await session.rows(), [
      { role: 'user' },
      { role: 'assistant', step: 1 },
      { role: 'tool', output: 1 },
    ]);
    equal((await session.rows()).length, 3);
    const log = await session.log();
    equal(textIn(log).split('>').length, 2);
    equal(log.filter(({ message }) => message.type === 'tool_end').length, 1);
    includes(log.slice(-2), [
      { message: { type: 'stream_resync', reason: 'rollback', stepCount: 1 } },
      { message: { type: 'run_resumed', mode: 'from_checkpoint', fromStepCount: 1 } },
    ]);
    equal((log.at(-1)?.sequence ?? 0) > (before?.sequence ?? Infinity), true);
    includes(await store.checkpoints.list(session.id), { checkpoints: [{ id }] });
    if (result.kind !== 'rewound') throw new Error(result.kind);
    // Steps continue after the checkpoint, within the same message.
    includes(await session.claim(session.writer(result.run.runId, 2, 1)), {
      kind: 'claimed',
      rowCount: 3,
      hasDroppedCalls: true,
    });
    await conclude(session, result.run, 2);
    // A dropped checkpoint is not mistaken for the one in its place.
    equal(await store.checkpoints.get(session.id, checkpoints[1]?.id ?? ''), null);
    // Its step ends where it did, before what the first rewind wrote.
    includes(await session.rewindTo(id), { kind: 'rewound' });
    equal((await session.messages('stream_resync')).length, 1);
    await session.stop();
    includes(await session.newRun('u2'), { messageId: 'msg-3', turn: 2 });
  });

  it('the turn began with the state before its first step, whichever step it returns to', async (setup) => {
    const { store, session } = setup;
    const run = await session.newRun('u1');
    await session.save({ step: 0 }, 0);
    await takeStep(session, run, 1);
    await session.save({ step: 1 }, 1);
    await takeStep(session, run, 2);
    await session.stop();
    const { checkpoints } = await store.checkpoints.list(session.id);
    await session.rewindTo(checkpoints[0]?.id ?? '');
    includes(await session.load(), { customState: { step: 1 } });
    includes(await store.documents.readState(session.id, 'turn'), { customState: { step: 0 } });
  });

  it('nothing of the end of its run stays behind a checkpoint', async ({ store, session }) => {
    await takeStep(session, await session.newRun('u1'), 1);
    await session.stop();
    const next = await session.newRun('u2');
    await session.claim(session.writer(next.runId, 1, 1));
    await session.stop();
    await session.end(next.runId, 'interrupted');
    const { checkpoints } = await store.checkpoints.list(session.id);
    await session.rewindTo(checkpoints[0]?.id ?? '');
    equal((await session.messages('tool_end')).length, 1);
    equal(await session.messages('stream_end'), []);
  });

  it('the questions of sub-agents stay with the step that called them', async (setup) => {
    const { session } = setup;
    const { runId, children } = await grow(setup, 1, () => []);
    for (const { driver, ref } of children)
      await driver.ask(ref.runId, 1, [heldCall(ref.runId, 'a')]);
    await session.stop();
    const before = await session.rows();
    equal(before.filter((row) => row.role === 'assistant' && row.display === true).length, 1);
    includes(await session.rewindTo(formatCheckpointId(runId, 1)), { kind: 'rewound' });
    equal(await session.rows(), before);
  });

  it('messages and calls that a rewind dropped are forgotten', async ({ session }) => {
    await playTurn(session, 'u1');
    const asked = await session.newRun('u2');
    await session.ask(asked.runId, 1, [client('p', { deadlineMs: 0 })]);
    await session.expire(asked.runId, 'p');
    await conclude(session, asked, 2);
    const ids = Array.from({ length: 320 }, (_, n) => `m${String(n)}`);
    const begun = await session.begin({ messages: ids.map((id) => userMessage(id)) });
    if (begun.kind !== 'begun') throw new Error(begun.kind);
    await conclude(session, begun.run, 1);
    equal(await session.accepted(['u1', ...ids]), ['u1', ...ids]);

    const rewound = await session.retry({ messageId: 'u1' });
    if (rewound.kind !== 'rewound') throw new Error(rewound.kind);
    equal(await session.accepted(['u1', 'u2', ...ids]), ['u1']);
    const already = { kind: 'already_completed' };
    equal(await session.answer(asked.runId, 'p', { output: 'at last' }), already);
    // The messages may be sent again and are queued like any others.
    includes(await session.enqueue('m0'), { kind: 'queued' });
    equal(await session.accepted(['m0', 'm1']), ['m0']);
    equal(await session.enqueue('m0'), { kind: 'accepted' });
    await conclude(session, rewound.run, 1);
    includes(await session.beginNext(), { kind: 'begun' });
    equal(
      (await session.rows(2)).map((row) => row.role === 'user' && row.id),
      ['m0'],
    );
  });

  it('queued messages stay', async ({ session }) => {
    const { runId } = await session.newRun();
    await session.enqueue('u2');
    await session.end(runId, 'completed');
    includes(await session.retry(), { kind: 'rewound' });
    includes(await session.queue(), [{ id: 'u2' }]);
    includes(await session.beginNext(), { kind: 'busy' });
  });

  it('a note about a late answer is dropped with its call', async ({ session }) => {
    const run = await session.newRun();
    await session.ask(run.runId, 1, [client('p', { deadlineMs: 0 })]);
    await session.expire(run.runId, 'p');
    await conclude(session, run, 2);
    equal(await session.answer(run.runId, 'p', { output: 'at last' }), { kind: 'late' });
    const result = await session.retry();
    if (result.kind !== 'rewound') throw new Error(result.kind);
    await session.claim(session.writer(result.run.runId, 1, 1));
    equal((await session.rows()).length, 1);
  });
});
