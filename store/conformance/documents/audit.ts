import { equal, eventually, includes } from '../assertions.js';
import { AGENT, client, newCall, newNonce, newSessionId, userMessage } from '../fixtures.js';
import { drive, type SessionDriver } from '../session-driver.js';
import type { Case, Suite } from '../suite.js';
import type { Act, AuditAction, AuditEntry } from '../../contract/audit.js';

function actOf(action: AuditAction, extra: Partial<Act> = {}): Act {
  return { id: newNonce() + newNonce(), at: 5, by: 'ann', via: 'api', action, ...extra };
}

/** Starts a run of a tenant that only this case uses, up to a call that waits for people. */
async function asking(
  session: SessionDriver,
  tenant: string,
  ids: readonly string[],
): Promise<string> {
  const { runId } = await session.newRun({ tenant });
  await session.ask(
    runId,
    1,
    ids.map((id) =>
      newCall(id, id.startsWith('c') ? 'client' : 'approval', { deadlineMs: 60_000 }),
    ),
  );
  return runId;
}

function approve(session: SessionDriver, runId: string, toolCallId: string, act: Act) {
  const decision = { approved: true, at: 5 };
  const base = { sessionId: session.id, agentType: AGENT, toolCallId, runId, chunks: [], now: 5 };
  return { source: 'approval' as const, ...base, decision, permitted: true, act };
}

async function actionsOf({ store }: Pick<Case, 'store'>, tenant: string): Promise<string[]> {
  const { entries } = await store.audit.page(tenant, { limit: 100 });
  return entries.map(({ entry }) => `${entry.action} ${entry.outcome}`).reverse();
}

export function auditCases({ describe, it }: Suite): void {
  describe('audit trail', () => {
    it('an act leaves one entry, which the relay moves to the chain of the tenant', async (setup) => {
      const { store, session } = setup;
      const tenant = newSessionId();
      const runId = await asking(session, tenant, ['a']);
      const act = actOf('approve', { tenant, runId, toolCallId: 'a', roles: ['approver'] });
      includes(await store.calls.settle(approve(session, runId, 'a', act)), { kind: 'stored' });
      const [entry] = await store.audit.relay(session.id);
      equal(entry, {
        id: act.id,
        at: 5,
        actor: entry?.actor,
        roles: ['approver'],
        via: 'api',
        tenant,
        action: 'approve',
        target: { sessionId: session.id, runId, toolCallId: 'a' },
        outcome: 'stored',
      });
      equal(entry?.actor.includes('ann'), false);
      equal(await store.audit.relay(session.id), []);
      const page = await store.audit.page(tenant, { limit: 10 });
      equal(page, { entries: [{ n: 1, entry, name: 'ann' }] });
      includes(await store.audit.verify(tenant), { ok: true, entries: 1, first: 1 });
    });

    it('every act of people and rules leaves its entry, other transitions leave none', async (setup) => {
      const { store, session } = setup;
      const tenant = newSessionId();
      const runId = await asking(session, tenant, ['a', 'c', 'd']);
      const { id: sessionId } = session;
      const at = { sessionId, agentType: AGENT, runId, chunks: [], now: 5 };
      const { deadline = 0 } = (await store.calls.read(sessionId, 'd')) ?? {};
      const longer = { sessionId, runId, toolCallId: 'd', byMs: 10, deadline, now: 5 };
      await store.calls.extendDeadline({ ...longer, act: actOf('extend') });
      await store.calls.settle({
        source: 'client',
        ...at,
        toolCallId: 'c',
        permitted: true,
        row: { role: 'tool', toolCallId: 'c', toolName: 'client-tool', output: 1 },
        act: actOf('result', { tenant, runId }),
      });
      await store.runs.stop(sessionId, { mode: 'interrupt', act: actOf('stop') });
      const again = { sessionId, nonce: newNonce(), now: 5 };
      const resumed = await store.runs.resume({ ...again, mode: 'continue', act: actOf('resume') });
      const newest = resumed.kind === 'resumed' ? resumed.run.runId : '';
      const writer = session.writer(newest, 2, 2);
      await session.claim(writer);
      await session.commit(writer);
      const retry = { sessionId, runId: newest, nonce: newNonce(), now: 5 };
      includes(await store.runs.rewind({ ...retry, mode: 'retry', act: actOf('retry') }), {
        kind: 'rewound',
      });
      await store.runs.stop(sessionId, { mode: 'abort' });
      await store.audit.relay(sessionId);
      equal(await actionsOf({ store }, tenant), [
        'extend extended',
        'result stored',
        'stop ended',
        'resume begun',
        'retry begun',
      ]);
      includes((await store.audit.page(tenant, { limit: 1 })).entries, [
        { entry: { action: 'retry', tenant, target: { sessionId } } },
      ]);
    });

    it('a call that expires leaves an entry without a person', async ({ store, session }) => {
      const tenant = newSessionId();
      const { runId } = await session.newRun({ tenant });
      await session.ask(runId, 1, [client('c', { deadlineMs: 1 })]);
      const row = { role: 'tool' as const, toolCallId: 'c', toolName: 't', error: 'late' };
      const at = { sessionId: session.id, agentType: AGENT, toolCallId: 'c', runId, chunks: [] };
      const act = actOf('expire', { by: undefined, via: 'auto', tenant });
      await eventually('the deadline passes', async () => {
        const settled = await store.calls.settle({ source: 'expiry', ...at, row, now: 5, act });
        return settled.kind === 'stored';
      });
      includes(await store.audit.relay(session.id), [{ actor: 'rule', via: 'auto', tenant }]);
    });

    it('a copy of a conversation leaves its entry', async ({ store, session }) => {
      const tenant = newSessionId();
      await store.sessions.branch({
        sessionId: session.id,
        agent: AGENT,
        owner: 'ann',
        tenant,
        nonce: newNonce(),
        rows: [userMessage('u1').row],
        messages: [],
        turn: { turn: 1, row: 0, messageId: 'msg-1', step: 0, hasReplied: false },
        visibleMessages: 1,
        now: 5,
        act: actOf('branch', { tenant, detail: { from: 'another' } }),
      });
      includes(await store.audit.relay(session.id), [
        { action: 'branch', outcome: 'branched', detail: { from: 'another' } },
      ]);
    });

    it('a refused act leaves nothing, a repeated request one entry', async ({ store, session }) => {
      const tenant = newSessionId();
      const runId = await asking(session, tenant, ['a', 'b']);
      const first = approve(session, runId, 'a', actOf('approve', { tenant }));
      await store.calls.settle(first);
      equal((await store.calls.settle(first)).kind, 'already_completed');
      const late = approve(session, runId, 'a', actOf('approve', { tenant }));
      equal((await store.calls.settle(late)).kind, 'already_completed');
      const stale = approve(session, `${session.id}:9-x`, 'b', actOf('approve', { tenant }));
      equal((await store.calls.settle(stale)).kind, 'stale_run');
      await store.runs.stop(session.id, { mode: 'abort', runId: 'another', act: actOf('stop') });
      equal((await store.audit.relay(session.id)).length, 1);
    });

    it('a late answer leaves one entry, however often it is repeated', async (setup) => {
      const { store, session } = setup;
      const tenant = newSessionId();
      const { runId } = await session.newRun({ tenant });
      await session.ask(runId, 1, [client('c', { deadlineMs: 1 })]);
      await eventually('the deadline passes', async () => {
        const { kind } = await session.expire(runId, 'c');
        return kind === 'stored';
      });
      await session.claim(session.writer(runId, 2, 1));
      const row = { role: 'tool' as const, toolCallId: 'c', toolName: 't', output: 'Rome' };
      const at = { sessionId: session.id, agentType: AGENT, toolCallId: 'c', runId, chunks: [] };
      for (const repeated of [1, 2, 3]) {
        const act = actOf('result', { tenant, at: repeated });
        const answer = { source: 'client' as const, ...at, row, late: 'Rome', now: 5, act };
        equal(await store.calls.settle(answer), { kind: 'late' });
      }
      includes(await store.audit.relay(session.id), [{ action: 'result', outcome: 'late', at: 1 }]);
      equal(await actionsOf({ store }, tenant), ['result late']);
    });

    it('many relays at once chain each entry once, without gaps', async (setup) => {
      const tenant = newSessionId();
      const other = await setup.another();
      const sessions = Array.from({ length: 6 }, () => drive(setup));
      const later: (() => Promise<unknown>)[] = [];
      for (const session of sessions) {
        const runId = await asking(session, tenant, ['a', 'b']);
        const settle = (id: string) => {
          const act = actOf('approve', { tenant, toolCallId: id });
          return setup.store.calls.settle(approve(session, runId, id, act));
        };
        await settle('a');
        // An act noted while another relay works stays for the next relay.
        later.push(() => settle('b'));
      }
      const relayAll = () =>
        Promise.all(
          sessions.flatMap(({ id }) =>
            [setup.store, other.store, setup.store].map((store) => store.audit.relay(id)),
          ),
        );
      const [relayed] = await Promise.all([relayAll(), ...later.map((settle) => settle())]);
      equal([...relayed.flat(), ...(await relayAll()).flat()].length, 12);
      const { entries } = await setup.store.audit.page(tenant, { limit: 100 });
      equal(
        entries.map(({ n }) => n),
        Array.from({ length: 12 }, (_, at) => 12 - at),
      );
      equal(new Set(entries.map(({ entry }) => entry.id)).size, 12);
      includes(await other.store.audit.verify(tenant), { ok: true, entries: 12 });
    });

    it('a person has one pseudonym, and none that can be resolved once it is forgotten', async (setup) => {
      const { store } = setup;
      const tenant = newSessionId();
      const record = (by: string): Promise<AuditEntry[]> =>
        store.audit.record(actOf('retry', { tenant, by, owner: by }), { sessionId: 's1' });
      const [first] = await record('ann');
      const [second] = await record('ann');
      const [bob] = await record('bob');
      equal(first?.actor, second?.actor);
      equal(first?.actor === bob?.actor, false);
      equal(await store.audit.forget(tenant, 'ann'), true);
      equal(await store.audit.forget(tenant, 'ann'), false);
      const { entries } = await store.audit.page(tenant, { limit: 10 });
      equal(
        entries.map(({ name }) => name ?? ''),
        ['bob', '', ''],
      );
      equal(await store.audit.page(tenant, { limit: 10, actor: 'ann' }), { entries: [] });
      const [again] = await record('ann');
      equal(again?.actor === first?.actor, false);
      includes(await store.audit.verify(tenant), { ok: true, entries: 4 });
    });

    it('the name of a person who acted on others is sealed once it is forgotten', async ({
      store: { audit, ...store },
      session,
    }) => {
      const tenant = newSessionId();
      await audit.record(actOf('read', { tenant, by: 'bob', owner: 'bob' }), {});
      equal(await audit.hasActedOnOthers(tenant, 'bob'), false);
      // A colleague answers in a conversation of another user.
      const runId = await asking(session, tenant, ['a', 'b']);
      for (const [id, by] of [
        ['a', 'col'],
        ['b', 'ann'],
      ] as const) {
        const act = actOf('approve', { tenant, toolCallId: id, by });
        includes(await store.calls.settle(approve(session, runId, id, act)), { kind: 'stored' });
      }
      const [of] = await audit.relay(session.id);
      equal(await Promise.all(['col', 'ann'].map((by) => audit.hasActedOnOthers(tenant, by))), [
        true,
        false,
      ]);
      for (const person of ['bob', 'col', 'ann']) await audit.forget(tenant, person);
      const { entries } = await audit.page(tenant, { limit: 10 });
      equal(
        entries.map(({ name, isSealed }) => [name, isSealed]),
        [
          [undefined, undefined],
          [undefined, true],
          [undefined, undefined],
        ],
      );
      equal(await audit.page(tenant, { limit: 10, actor: 'col' }), { entries: [] });
      equal(await audit.unseal(tenant, of?.actor ?? ''), 'col');
      equal(await audit.unseal(newSessionId(), of?.actor ?? ''), undefined);
      for (const { entry } of entries.filter(({ isSealed }) => isSealed !== true))
        equal(await audit.unseal(tenant, entry.actor), undefined);
    });

    it('what operators ask for is listed, and gone with those whom it names', async ({
      store: { audit },
    }) => {
      const tenant = newSessionId();
      const asks = [
        { action: 'forget', subject: 'zoe', by: 'ann' },
        { action: 'forget', subject: 'col', by: 'bob' },
        { action: 'open', subject: 'p-1', by: 'bob' },
      ] as const;
      for (const ask of [...asks, asks[0]]) await audit.ask(tenant, ask);
      const listed = async (): Promise<string[]> =>
        (await audit.asked(tenant)).map(({ subject, by }) => `${by} ${subject}`).sort();
      equal(await listed(), ['ann zoe', 'bob col', 'bob p-1']);
      equal(await audit.asked(newSessionId()), []);
      await audit.forget(tenant, 'bob');
      equal(await listed(), ['ann zoe']);
      await audit.forget(tenant, 'zoe');
      equal(await listed(), []);
    });

    it('pages are filtered, and continue where the one before ended', async ({ store }) => {
      const tenant = newSessionId();
      for (let at = 1; at <= 7; at += 1) {
        const action = at % 2 === 0 ? 'read' : 'export';
        const by = at > 4 ? 'bob' : 'ann';
        await store.audit.record(actOf(action, { tenant, at, by }), {});
      }
      const numbers = async (query: object): Promise<number[]> => {
        const { entries } = await store.audit.page(tenant, { limit: 100, ...query });
        return entries.map(({ n }) => n);
      };
      equal(await numbers({ action: 'read' }), [6, 4, 2]);
      equal(await numbers({ actor: 'bob' }), [7, 6, 5]);
      equal(await numbers({ since: 3, until: 5 }), [5, 4, 3]);
      equal(await numbers({ actor: 'zoe' }), []);
      const first = await store.audit.page(tenant, { limit: 3, action: 'export' });
      const { cursor } = first;
      equal(
        first.entries.map(({ n }) => n),
        [7, 5, 3],
      );
      equal(await numbers({ action: 'export', cursor }), [1]);
      equal((await store.audit.page(newSessionId(), { limit: 5 })).entries, []);
    });

    it('a reader that asks for what is behind a number misses no entry', async ({ store }) => {
      const tenant = newSessionId();
      const act = (action: 'read' | 'export') => store.audit.record(actOf(action, { tenant }), {});
      const seen: number[] = [];
      let after = 0;
      const read = async (query: object = {}): Promise<void> => {
        const page = await store.audit.page(tenant, { limit: 2, ...query, after });
        equal(page.cursor, undefined);
        seen.push(...page.entries.map(({ n }) => n));
        after = page.after ?? -1;
      };
      await read();
      equal([seen, after], [[], 0]);
      for (let n = 0; n < 3; n += 1) await act('read');
      await read();
      await read();
      equal([seen, after], [[1, 2, 3], 3]);
      await act('read');
      // Filtered entries count as examined.
      await read({ action: 'export' });
      equal([seen, after], [[1, 2, 3], 4]);
      await act('export');
      await read({ action: 'export' });
      equal([seen, after], [[1, 2, 3, 5], 5]);
    });

    it('a chain without entries verifies', async ({ store }) => {
      equal(await store.audit.verify(newSessionId()), {
        ok: true,
        entries: 0,
        signed: 0,
        first: 1,
        head: '',
      });
    });
  });
}
