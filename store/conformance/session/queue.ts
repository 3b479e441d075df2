import { equal, includes, eventually } from '../assertions.js';
import { approval, newNonce, server, userMessage } from '../fixtures.js';
import { type SessionDriver } from '../session-driver.js';
import type { Suite } from '../suite.js';
import type { Store } from '../../contract/store.js';
import { LIMITS } from '../../../protocol/limits.js';

async function idsOf(store: Store, { id }: SessionDriver): Promise<string[]> {
  return (await store.queue.read(id)).map((entry) => entry.id);
}

export function queueCases({ describe, it }: Suite): void {
  describe('queue', () => {
    it('messages sent while a run is active are queued and answered in order', async (setup) => {
      const { session } = setup;
      const first = await session.newRun('u1');
      includes(await session.enqueue('u2'), { kind: 'queued' });
      includes(await session.begin({ messages: [userMessage('u3')], policy: 'queue', by: 'ann' }), {
        kind: 'queued',
      });
      includes(await session.queue(), [
        { id: 'u2', mode: 'queue', messages: [{ id: 'u2', row: { id: 'u2' } }] },
        { id: 'u3', by: 'ann' },
      ]);
      includes(await session.record(), { queued: 2, runId: first.runId });
      equal((await session.view())?.queue, await session.queue());

      equal(await session.beginNext(), { kind: 'busy' });
      includes(await session.ask(first.runId, 1, []), { kind: 'committed', next: true });
      const second = await session.beginNext();
      includes(second, { kind: 'begun', run: { turn: 2, messageId: 'msg-3' } });
      includes(await session.rows(2), [{ role: 'user', id: 'u2' }]);
      includes(await session.record(), { queued: 1, status: 'starting' });
      await session.end(runOf(second), 'completed');
      const third = await session.beginNext();
      includes(third, { run: { turn: 3 } });
      equal(await session.end(runOf(third), 'completed'), { kind: 'ended', status: 'completed' });
      equal(await session.beginNext(), { kind: 'empty' });
    });

    it('a message is accepted once, however it waits', async ({ store, session }) => {
      await session.newRun('u1');
      await session.enqueue('u2');
      equal(await session.enqueue('u2'), { kind: 'accepted' });
      equal(await session.begin({ messages: [userMessage('u2')] }), { kind: 'accepted' });
      const other = { ...userMessage('u2'), hash: 'changed' };
      equal(await session.begin({ messages: [other], policy: 'queue' }), {
        kind: 'conflict',
        messageId: 'u2',
      });
      equal(await session.accepted(['u2', 'u3']), ['u2']);
      equal(await idsOf(store, session), ['u2']);
    });

    it('queued messages are not overtaken: a new one is queued or refused', async (setup) => {
      const { store, session } = setup;
      const { runId } = await session.newRun('u1');
      await session.enqueue('u2');
      await session.end(runId, 'completed');
      equal(await session.begin({ messages: [userMessage('u3')] }), { kind: 'busy' });
      equal(await session.accepted(['u3']), []);
      includes(await session.enqueue('u3'), { kind: 'queued', begun: { turn: 2 } });
      equal(await idsOf(store, session), ['u3']);
      includes(await session.rows(1), [{ id: 'u2' }]);
    });

    it('queued messages come before a message that abandons a question', async (setup) => {
      const { store, session } = setup;
      const { runId } = await session.newRun('u1');
      await session.enqueue('u2');
      await session.ask(runId, 1, [approval('a')]);
      includes(await session.begin({ messages: [userMessage('u3')] }), {
        kind: 'queued',
        begun: { supersededRunId: runId },
      });
      equal(await idsOf(store, session), ['u3']);
      includes(await session.rows(2), [
        { toolCallId: 'a', errorCode: 'client_tool_abandoned' },
        { role: 'user', id: 'u2' },
      ]);
    });

    it('a question is abandoned under every policy if nothing is queued', async ({ session }) => {
      let { runId } = await session.newRun('u1');
      for (const policy of ['queue', 'steer', 'interrupt'] as const) {
        await session.ask(runId, 1, [approval(`a-${policy}`)]);
        const begun = await session.begin({ messages: [userMessage(policy)], policy });
        includes(begun, { kind: 'begun', run: { supersededRunId: runId } });
        runId = runOf(begun);
      }
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

    it('what waits is bounded by its bytes, and its reader is asked about them', async (setup) => {
      const { store, session } = setup;
      await session.newRun('first');
      const large = (id: string) => userMessage(id, 'x'.repeat(LIMITS.userMessageBytes / 2));
      let count = 0;
      for (;;) {
        const sent = { messages: [large(`q${String(count)}`)], policy: 'queue' as const };
        const { kind } = await session.begin(sent);
        if (kind === 'queue_full') break;
        count += 1;
      }
      equal((await idsOf(store, session)).length, count);
      equal(count * LIMITS.userMessageBytes < 4 * LIMITS.queueBytes, true);
      let taken = 0;
      const meter = { take: (bytes: number) => Promise.resolve(void (taken += bytes)) };
      await store.queue.read(session.id, meter);
      const alone = taken;
      await store.sessions.view(session.id, meter);
      equal(
        [alone, taken - alone].every((bytes) => bytes >= LIMITS.queueBytes),
        true,
      );
    });

    it('the queue continues after every kind of end', async ({ session }) => {
      let { runId } = await session.newRun('u0');
      for (const [n, mode] of (['interrupt', 'abort'] as const).entries()) {
        await session.enqueue(`u${String(n + 1)}`);
        equal(await session.stop({ mode }), { kind: 'ended', runId, next: true });
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
      equal(await session.begin({ messages: [userMessage('u2', 'better')] }), { kind: 'accepted' });
      includes(await session.enqueue('u2'), { kind: 'conflict' });
      await session.end(runId, 'completed');
      await session.beginNext();
      includes(await session.rows(1), [{ parts: [{ text: 'better' }] }]);
      equal(await edit('too late', 'better'), { kind: 'not_queued' });
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
      // An entry is removed as a whole.
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
      includes(await session.enqueue('u2'), { kind: 'queued', sequence: 1 });
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
        messageIds: ['u2'],
        reason: 'queue',
      });
    });

    it('queueing does not count as a write of the run', async ({ session }) => {
      await session.newRun('u1');
      const before = (await session.record())?.updatedAt;
      await session.begin({ messages: [userMessage('u2')], policy: 'queue', now: 5 });
      equal((await session.record())?.updatedAt, before);
    });

    it('the queue is erased with its session', async ({ store, session }) => {
      await session.newRun('u1');
      await session.enqueue('u2');
      await store.sessions.erase(session.id);
      equal(await session.queue(), []);
      const begin = { sessionId: session.id, nonce: newNonce(), now: Date.now() };
      equal(await store.queue.begin(begin), { kind: 'empty' });
    });
  });

  describe('a message that interrupts', () => {
    it('a message that interrupts stops the model and comes first in the queue', async (setup) => {
      const { store, session } = setup;
      const { runId, writer } = await session.speaking();
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

    it('notifies the workers', async ({ session, another }) => {
      const { runId } = await session.newRun('u1');
      await session.claim(session.writer(runId, 1, 1));
      const { streamManager } = await another();
      let notified = 0;
      const leave = await streamManager.onStop(session.id, () => {
        notified += 1;
      });
      await session.begin({ messages: [userMessage('u2')], policy: 'interrupt' });
      await eventually('the worker is notified', () => notified === 1);
      leave();
    });
  });
}

function runOf(result: unknown): string {
  const { run } = result as { run?: { runId: string } };
  if (run === undefined) throw new Error(`no run was begun: ${JSON.stringify(result)}`);
  return run.runId;
}
