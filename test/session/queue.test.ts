import { LIMITS } from '../../protocol/limits.js';
import { equal, includes } from '../../store/conformance/assertions.js';
import { approval, server, userMessage } from '../../store/conformance/fixtures.js';
import { drive, type SessionDriver } from '../../store/conformance/session-driver.js';
import { runOf } from '../../store/conformance/session/played-turns.js';
import type { Store } from '../../store/contract/store.js';
import { it } from './rules.js';

async function idsOf(store: Store, { id }: SessionDriver): Promise<string[]> {
  return (await store.queue.read(id)).map((entry) => entry.id);
}

describe('queue', () => {
  it('messages sent while a run is active are queued and answered in order', async ({
    session,
  }) => {
    const tenant = 'acme';
    const first = await session.newRun({ tenant });
    const enqueue = (id: string) =>
      session.begin({ tenant, messages: [userMessage(id)], policy: 'queue' });
    includes(await enqueue('u2'), { kind: 'queued' });
    await enqueue('u3');
    equal(await session.beginNext(), { kind: 'busy' });
    includes(await session.ask(first.runId, 1, []), { kind: 'committed', next: true });
    for (const [n, id] of ['u2', 'u3'].entries()) {
      const begun = await session.beginNext();
      includes(begun, { kind: 'begun', run: { turn: n + 2 }, tenant });
      includes((await session.rows()).slice(-1), [{ role: 'user', id }]);
      const next = n === 0 && { next: true };
      equal(await session.end(runOf(begun), 'completed'), {
        kind: 'ended',
        status: 'completed',
        ...next,
      });
    }
    equal(await session.beginNext(), { kind: 'empty' });
  });

  it('queued messages are not overtaken: a new one is queued or refused', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.newRun('u1');
    await session.enqueue('u2');
    await session.end(runId, 'completed');
    equal(await session.begin({ messages: [userMessage('u3')] }), { kind: 'busy' });
    const later = { startAt: Date.now() + 60_000, policy: 'queue' as const };
    equal(await session.begin({ ...later, messages: [userMessage('u3')] }), { kind: 'busy' });
    equal(await session.accepted(['u3']), []);
    includes(await session.enqueue('u3'), { kind: 'queued', begun: { turn: 2 } });
    equal(await idsOf(store, session), ['u3']);
    includes(await session.rows(1), [{ id: 'u2' }]);
    includes(await session.messages('turn_started'), [{ reason: 'queue', messageIds: ['u2'] }]);
  });

  it('queued messages come before a message that abandons a question', async (setup) => {
    for (const policy of [undefined, 'steer'] as const) {
      const session = drive(setup);
      const { runId } = await session.newRun('u1');
      await session.enqueue('u2');
      await session.ask(runId, 1, [approval('a')]);
      includes(await session.begin({ messages: [userMessage('u3')], ...(policy && { policy }) }), {
        kind: 'queued',
        begun: { supersededRunId: runId },
      });
      equal(await idsOf(setup.store, session), ['u3']);
      includes(await session.rows(2), [
        { toolCallId: 'a', errorCode: 'client_tool_abandoned' },
        { role: 'user', id: 'u2' },
      ]);
    }
  });

  it('a waiting message withdraws what the run before it would ask, and no other run', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.newRun('u1');
    const wait = (id: string, withdraws?: string): Promise<unknown> =>
      session.begin({ messages: [userMessage(id)], policy: 'queue', withdraws });
    await wait('u2', 'another');
    await wait('u3', runId);
    includes(await session.ask(runId, 1, [approval('a')]), {
      at: { next: { do: 'done', status: 'interrupted' } },
    });
    includes(await session.record(), { status: 'interrupted', stream: 'ended', queued: 2 });
    equal(await session.messages('run_paused'), []);
    includes(await session.rows(2), [{ toolCallId: 'a', errorCode: 'client_tool_abandoned' }]);
    // The next run asks.
    const next = runOf(await session.beginNext());
    await session.ask(next, 1, [approval('b')]);
    includes(await session.record(), { runId: next, stream: 'paused', queued: 1 });
    const [entry] = await store.queue.read(session.id);
    equal(Object.keys(entry ?? {}).sort(), ['askers', 'id', 'messages', 'mode', 'queuedAt']);
  });

  it('the number of entries is limited', async ({ store, session }) => {
    await session.newRun('first');
    for (let n = 0; n < LIMITS.queueEntries; n += 1) await session.enqueue(`q${String(n)}`);
    for (const policy of ['queue', 'steer', 'interrupt'] as const) {
      equal(await session.begin({ messages: [userMessage('more')], policy }), {
        kind: 'queue_full',
      });
    }
    equal(await session.accepted(['more']), []);
    equal((await session.record())?.stop, undefined);
    equal((await idsOf(store, session)).length, LIMITS.queueEntries);
  });

  it('what waits is bounded by its bytes', async ({ store, session }) => {
    await session.newRun('first');
    const large = (id: string) => userMessage(id, 'x'.repeat(LIMITS.userMessageBytes / 2));
    let count = 0;
    for (;;) {
      const sent = { messages: [large(`q${String(count)}`)], policy: 'queue' as const };
      const { kind } = await session.begin(sent);
      if (kind === 'queue_full') break;
      count += 1;
    }
    equal((await store.queue.read(session.id)).length, count);
    equal(count * LIMITS.userMessageBytes < 4 * LIMITS.queueBytes, true);
  });

  it('the queue continues after every kind of end', async ({ session }) => {
    let { runId } = await session.newRun('u0');
    for (const [n, mode] of (['interrupt', 'abort'] as const).entries()) {
      await session.enqueue(`u${String(n + 1)}`);
      equal(await session.stop({ mode }), { kind: 'ended', runId, next: true, unstarted: true });
      runId = runOf(await session.beginNext());
    }
    await session.enqueue('u8');
    const ended = { kind: 'ended', status: 'failed', next: true } as const;
    equal(await session.end(runId, 'failed'), ended);
    equal(await session.end(runId, 'failed'), ended);
    includes(await session.beginNext(), { kind: 'begun' });
  });

  it('an edited message is answered in its new form', async ({ store, session }) => {
    const { runId } = await session.newRun('u1');
    await session.enqueue('u2');
    const edit = (text: string, expectedHash: string) =>
      store.queue.edit({
        sessionId: session.id,
        message: userMessage('u2', text),
        expectedHash,
        now: Date.now(),
      });
    equal(await edit('better', 'something else'), { kind: 'stale' });
    equal(await edit('better', 'hello from u2'), { kind: 'edited' });
    // The reply to the first edit was lost.
    equal(await edit('better', 'hello from u2'), { kind: 'edited' });
    equal(await edit('best', 'better'), { kind: 'edited' });
    includes(await session.messages('queue_changed'), [
      { queued: 1 },
      { queued: 1 },
      { queued: 1 },
    ]);
    equal(await session.begin({ messages: [userMessage('u2', 'best')] }), { kind: 'accepted' });
    includes(await session.enqueue('u2'), { kind: 'conflict' });
    await session.end(runId, 'completed');
    await session.beginNext();
    includes(await session.rows(1), [{ parts: [{ text: 'best' }] }]);
    equal(await edit('too late', 'best'), { kind: 'not_queued' });
  });

  it('a removed message is forgotten and can be sent again', async ({ store, session }) => {
    const { runId } = await session.newRun('u1');
    await session.begin({ messages: ['u2', 'u3'].map((id) => userMessage(id)), policy: 'queue' });
    await session.enqueue('u4');
    const remove = (messageId?: string) =>
      store.queue.remove({
        sessionId: session.id,
        messageId,
        now: Date.now(),
      });
    equal(await remove('u1'), { kind: 'removed', count: 0 });
    // An entry is removed with all of its messages.
    equal(await remove('u3'), { kind: 'removed', count: 1 });
    equal(await session.accepted(['u1', 'u2', 'u3', 'u4']), ['u1', 'u4']);
    includes(await session.enqueue('u2'), { kind: 'queued' });
    equal(await idsOf(store, session), ['u4', 'u2']);
    equal(await remove(), { kind: 'removed', count: 2 });
    equal(await session.end(runId, 'completed'), { kind: 'ended', status: 'completed' });
    includes(await session.messages('queue_changed'), [
      { queued: 1 },
      { queued: 2 },
      { queued: 1, removed: ['u2', 'u3'] },
      { queued: 2 },
      { queued: 0, removed: ['u4', 'u2'] },
    ]);
  });

  it('the first entry of the turn announces it', async ({ session }) => {
    const { runId } = await session.newRun('u1');
    const messages = [{ ...userMessage('h2'), hidden: true }, userMessage('u2')];
    includes(await session.begin({ messages, policy: 'queue' }), { kind: 'queued', sequence: 1 });
    await session.end(runId, 'completed');
    const begun = await session.beginNext();
    const record = await session.record();
    const [first] = (await session.log()).filter(
      ({ sequence }) => sequence > (record?.turnStartSequence ?? 0),
    );
    includes(first?.message, {
      type: 'turn_started',
      runId: runOf(begun),
      messageId: 'msg-2',
      messageIds: ['h2', 'u2'],
      reason: 'queue',
    });
  });

  it('queueing does not count as a write of the run', async ({ session }) => {
    await session.newRun('u1');
    const before = (await session.record())?.updatedAt;
    await session.begin({ messages: [userMessage('u2')], policy: 'queue', now: 5 });
    equal((await session.record())?.updatedAt, before);
  });
});

describe('a message that interrupts', () => {
  it('a message that interrupts stops the model and comes first in the queue', async (setup) => {
    const { store, session } = setup;
    const { runId, writer } = await session.claimed();
    await session.enqueue('u2');
    includes(
      await session.begin({ messages: [userMessage('u3')], policy: 'interrupt', by: 'ann' }),
      { kind: 'interrupting', runId },
    );
    equal(await idsOf(store, session), ['u3', 'u2']);
    equal((await session.record())?.stop, {
      mode: 'interrupt',
      reason: 'new_message',
      by: 'ann',
    });
    includes(await session.commit(writer), { kind: 'stopped' });
    const final = { status: 'interrupted' as const };
    includes(await session.commit(writer, { answersStop: true, final }), { next: true });
    await session.beginNext();
    includes((await session.rows()).at(-1), { role: 'user', id: 'u3' });
  });

  it('a message that interrupts starts a run at once if no model streams', async (setup) => {
    const { store, session } = setup;
    const { runId } = await session.newRun('u1');
    await session.enqueue('u2');
    await session.ask(runId, 1, [server('s')]);
    includes(await session.begin({ messages: [userMessage('u3')], policy: 'interrupt' }), {
      kind: 'begun',
      run: { supersededRunId: runId, turn: 2 },
    });
    equal(await idsOf(store, session), ['u2']);
    includes(await session.rows(2), [
      { toolCallId: 's', errorCode: 'run_stopped' },
      { role: 'user', id: 'u3' },
    ]);
  });

  it('a message that interrupts a certain run stops no other', async ({ session }) => {
    const first = await session.newRun('u1');
    await session.end(first.runId, 'completed');
    const { runId } = await session.newRun('u2');
    const stale = { policy: 'interrupt', interrupts: first.runId } as const;
    equal(await session.begin({ messages: [userMessage('u3')], ...stale }), { kind: 'busy' });
    equal((await session.record())?.stop, undefined);
    const meant = { policy: 'interrupt', interrupts: runId } as const;
    includes(await session.begin({ messages: [userMessage('u3')], ...meant }), {
      kind: 'begun',
      run: { supersededRunId: runId },
    });
    const third = (await session.record())?.runId ?? '';
    await session.end(third, 'completed');
    includes(await session.begin({ messages: [userMessage('u4')], ...stale }), { kind: 'begun' });
  });
});
