import { ok } from 'node:assert/strict';
import type { KnownPerson } from '../../../protocol/responder.js';
import { equal, includes } from '../assertions.js';
import { newCall, userMessage } from '../fixtures.js';
import { drive } from '../session-driver.js';
import type { Suite } from '../suite.js';
import { playTurn } from './played-turns.js';

const person = (userId: string, extra: Partial<KnownPerson> = {}): KnownPerson => ({
  userId,
  tenantId: 'acme',
  ...extra,
});
const ANN = person('ann', { roles: ['approver'], personId: 'p-ann' });
const OLGA = person('olga', { roles: ['operator'] });

export function askerCases({ describe, it }: Suite): void {
  describe('who asks by a turn', () => {
    it('is the author of its messages, with the roles of that time, and who repeats or continues it', async ({
      store,
      session,
    }) => {
      const asked = async () => (await store.sessions.read(session.id))?.askers;
      const begun = await session.begin({ by: 'ann', askers: [ANN, OLGA] });
      ok(begun.kind === 'begun');
      equal(await asked(), [ANN, person('olga')]);
      await session.end(begun.run.runId, 'interrupted');
      const resumed = await session.resume({ by: 'bob', asker: person('bob', { roles: [] }) });
      ok(resumed.kind === 'resumed');
      await session.end(resumed.run.runId, 'completed');
      await session.retry({ by: 'carl', asker: person('carl') });
      const all = [ANN, person('olga'), person('bob'), person('carl')];
      equal(await asked(), all);
      equal(await store.sessions.askers(session.id, ['u1', 'unknown']), [all, []]);
    });

    it('is the owner alone where a program names nobody, and again with the next message', async ({
      store,
      session,
    }) => {
      const asked = async () => (await store.sessions.read(session.id))?.askers;
      const first = await session.newRun('u1');
      equal(await asked(), [{ userId: 'ann' }]);
      await session.end(first.runId, 'completed');
      const begun = await session.begin({ by: 'bob', messages: [userMessage('u2')] });
      ok(begun.kind === 'begun');
      equal(await asked(), [{ userId: 'bob' }]);
      await session.end(begun.run.runId, 'completed');
      await session.newRun('u3');
      equal(await asked(), [{ userId: 'ann' }]);
    });

    it('belongs to the turn: a retry of an older one asks for those who asked then', async ({
      store,
      session,
    }) => {
      const asked = async () => (await store.sessions.read(session.id))?.askers;
      const first = await session.begin({ by: 'olga', askers: [OLGA] });
      ok(first.kind === 'begun');
      await session.end(first.run.runId, 'completed');
      await session.retry({ by: 'dora', asker: person('dora') });
      const { runId = '' } = (await store.sessions.read(session.id)) ?? {};
      await session.end(runId, 'completed');
      await playTurn(session, 'u2');
      equal(await asked(), [{ userId: 'ann' }]);
      await session.retry({ messageId: 'u1', by: 'ann', asker: ANN });
      equal(await asked(), [OLGA, person('dora'), person('ann', { personId: 'p-ann' })]);
    });

    it('has who puts another message in place as its author', async ({ store, session }) => {
      const begun = await session.begin({ by: 'olga', askers: [OLGA] });
      ok(begun.kind === 'begun');
      await session.end(begun.run.runId, 'completed');
      const messages = [userMessage('u1', 'another')];
      await session.retry({ messageId: 'u1', messages, by: 'ann', asker: ANN });
      const { askers = [] } = (await store.sessions.read(session.id)) ?? {};
      equal([askers[0], askers.map(({ userId }) => userId)], [ANN, ['ann', 'olga']]);
    });

    it('is kept for messages that wait, and that steer', async ({ store, session }) => {
      const asked = async () => (await store.sessions.read(session.id))?.askers;
      const { runId } = await session.newRun('u1');
      const waiting = { messages: [userMessage('u2')], by: 'olga', askers: [OLGA] };
      await session.begin({ ...waiting, policy: 'queue' });
      await store.queue.edit({
        ...{ sessionId: session.id, message: userMessage('u2', 'better'), asker: ANN },
        ...{ expectedHash: 'hello from u2', now: Date.now() },
      });
      includes(await store.queue.read(session.id), [{ askers: [ANN, { userId: 'olga' }] }]);
      await session.end(runId, 'completed');
      const next = await session.beginNext();
      ok(next.kind === 'begun');
      includes(await store.sessions.read(session.id), { runBy: 'olga' });
      includes(await asked(), [ANN, { userId: 'olga' }]);
      await session.ask(next.run.runId, 1, [newCall('s', 'server')]);
      const steers = { messages: [userMessage('u3')], by: 'bob', askers: [person('bob')] };
      await session.begin({ ...steers, policy: 'steer' });
      await session.start(next.run.runId, 1, 's');
      await session.finishCall(next.run.runId, 1, 's', 'done');
      await session.claim(session.writer(next.run.runId, 2, 2));
      includes(await asked(), [{ userId: 'bob' }, { userId: 'ann' }, { userId: 'olga' }]);
    });

    it('is kept by a copy, for each of its turns', async ({ store, streamManager, session }) => {
      await session.begin({ by: 'olga', askers: [OLGA] });
      const copy = drive({ store, streamManager });
      const first = userMessage('u1');
      await store.sessions.branch({
        ...{ sessionId: copy.id, agent: 'agent', owner: 'ann', nonce: 'n', now: 1, by: 'bob' },
        ...{ rows: [first.row], messages: [first], visibleMessages: 1 },
        turn: { turn: 1, row: 0, messageId: 'msg-1', step: 0, hasReplied: false },
        // As a copier collects them: from each message of the turn.
        askers: [[OLGA, person('bob'), person('bob')]],
      });
      equal((await store.sessions.read(copy.id))?.askers, [OLGA, person('bob')]);
      equal(await store.sessions.askers(copy.id, ['u1']), [[OLGA, person('bob')]]);
      await copy.retry({ messageId: 'u1', by: 'carl', asker: person('carl') });
      const { askers = [] } = (await store.sessions.read(copy.id)) ?? {};
      equal(askers, [OLGA, person('bob'), person('carl')]);
    });

    it('is told with each permission of a call, also of one that is approved', async ({
      store,
      session,
    }) => {
      const begun = await session.begin({ by: 'ann', askers: [ANN, OLGA] });
      ok(begun.kind === 'begun');
      const { runId } = begun.run;
      await session.ask(runId, 1, [newCall('s', 'server')]);
      includes(await session.start(runId, 1, 's'), { kind: 'execute', requester: ANN });
      await session.finishCall(runId, 1, 's', 'done');
      await session.ask(runId, 2, [newCall('a', 'approval')]);
      await session.decide(runId, 'a', true, { approver: OLGA });
      const permission = await session.start(runId, 2, 'a');
      includes(permission, { kind: 'execute', requester: ANN, approver: OLGA });
      // A row that is made without the tool has no more of the decision than others.
      await session.stop({ mode: 'abort' });
      await session.end(runId, 'aborted');
      equal(JSON.stringify(await store.sessions.rows(session.id, 0)).includes('operator'), false);
    });
  });
}
