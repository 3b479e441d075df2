import { ok } from 'node:assert/strict';
import { equal, eventually } from '../assertions.js';
import { newNonce } from '../fixtures.js';
import type { Case, Suite } from '../suite.js';
import { type Due, type DueSession, DUE_SHARDS, dueShardOf } from '../../contract/due.js';
import type { HeldWork, Leases } from '../../contract/leases.js';
import type { HeldRun, Pauses } from '../../contract/pauses.js';

const OVERDUE_MS = -1_000;
/** Times for cases that are not about their end, and for those that are. */
const LONG_MS = 60_000;
const SHORT_MS = 20;

/** A list that only this case uses. */
const listOf = ({ store, streamId }: Pick<Case, 'store' | 'streamId'>): Due =>
  store.due.of(`fleet/${streamId}`);

/** Session ids of one shard, ordered by name. */
function siblings(count: number): string[] {
  const ids: string[] = [];
  for (let n = 0; ids.length < count; n += 1) {
    const id = `due-${String(n).padStart(4, '0')}`;
    if (ids.length === 0 || dueShardOf(id) === dueShardOf(ids[0] ?? '')) ids.push(id);
  }
  return ids;
}

const MANY = { urgent: 100, routine: 100 };

async function take(
  due: Due,
  id: string,
  max: { urgent: number; routine: number } = MANY,
): Promise<DueSession[]> {
  return due.take(dueShardOf(id), max, 60_000);
}

const idsOf = (taken: readonly DueSession[]): string[] => taken.map(({ sessionId }) => sessionId);

function dueSessionCases({ describe, it }: Suite): void {
  describe('sessions that are due', () => {
    it('due sessions come oldest first, and not again before their time', async (setup) => {
      const due = listOf(setup);
      const [a = '', b = '', c = ''] = siblings(3);
      await due.note(b, OVERDUE_MS);
      await due.note(a, OVERDUE_MS - 1_000);
      await due.note(c, 60_000);
      equal(idsOf(await take(due, a)), [a, b]);
      equal(await take(due, a), []);
    });

    it('at most a given number of due sessions is taken from each list', async (setup) => {
      const due = listOf(setup);
      const ids = siblings(6);
      for (const id of ids) await due.note(id, OVERDUE_MS);
      for (const each of await take(due, ids[0] ?? '', { urgent: 3, routine: 0 })) {
        await due.put(each, 'routine', OVERDUE_MS);
      }
      const taken = await take(due, ids[0] ?? '', { urgent: 2, routine: 1 });
      equal(
        taken.map(({ list }) => list),
        ['urgent', 'urgent', 'routine'],
      );
      equal((await take(due, ids[0] ?? '')).length, 3);
    });

    it('a list is read page by page, whether its sessions are due or not', async (setup) => {
      const due = listOf(setup);
      const [a = '', b = '', c = ''] = siblings(3);
      await due.note(b, 60_000);
      await due.note(a, OVERDUE_MS);
      await due.note(c, 90_000);
      const shard = dueShardOf(a);
      equal(await due.listed('urgent', shard, 0, 2), [a, b]);
      equal(await due.listed('urgent', shard, 2, 2), [c]);
      equal(await due.listed('routine', shard, 0, 2), []);
      equal(await due.of('another fleet').listed('urgent', shard, 0, 2), []);
    });

    it('a list holds the sessions of one fleet, and a page those of one shard', async (setup) => {
      const due = listOf(setup);
      const [id = ''] = siblings(1);
      await due.note(id, OVERDUE_MS);
      equal(await take(due.of('another fleet'), id), []);
      equal(await due.take((dueShardOf(id) + 1) % DUE_SHARDS, MANY, 60_000), []);
      equal(idsOf(await take(due, id)), [id]);
    });

    it('a taken session is put elsewhere unless it was noted meanwhile', async (setup) => {
      const due = listOf(setup);
      const [id = ''] = siblings(1);
      await due.note(id, OVERDUE_MS - 1_000);
      const [first] = await take(due, id);
      ok(first);
      await due.note(id, OVERDUE_MS);
      await due.put(first, 'routine', 60_000);
      const [second] = await take(due, id);
      ok(second);
      equal(second.list, 'urgent');
      await due.put(second, 'routine', OVERDUE_MS);
      const [third] = await take(due, id);
      ok(third);
      equal(third.list, 'routine');
      await due.note(id, OVERDUE_MS);
      await due.drop(third);
      const [fourth, ...none] = await take(due, id);
      ok(fourth);
      equal([fourth.list, none], ['urgent', []]);
      await due.drop(fourth);
      await due.put(fourth, 'urgent', OVERDUE_MS);
      equal(await take(due, id), []);
    });

    it('each shard is swept by one holder at a time', async (setup) => {
      const due = listOf(setup);
      const other = listOf({ ...setup, store: (await setup.another()).store });
      for (const shard of [0, 1]) {
        const leases = Array.from({ length: 6 }, (_, n) =>
          (n % 2 === 0 ? due : other).lease(shard, `holder-${String(n)}`, LONG_MS),
        );
        equal((await Promise.all(leases)).filter((isMine) => isMine).length, 1);
      }
      equal(await due.lease(2, 'one', SHORT_MS), true);
      await eventually('it runs out', () => other.lease(2, 'two', LONG_MS));
      equal(await due.leaseWork('a', 'one', 60_000), true);
      equal(await other.leaseWork('a', 'two', 60_000), false);
      equal(await other.leaseWork('b', 'two', 60_000), true);
    });
  });
}

/** The leases of a namespace that only this case uses; undefined for a store without leases. */
const leasesOf = ({ store, streamId }: Pick<Case, 'store' | 'streamId'>): Leases | undefined =>
  store.leases?.of(`namespace ${streamId}`);

const workOf = (id: string): HeldWork => ({
  id,
  taskToken: 'dG9rZW4=',
  workflowId: `run:${id}`,
  runId: 'r1',
  token: 1_700_000_000_000_001,
  number: 1,
});

const STEADY = { isOver: false, stops: [] };

function workerLeaseCases({ describe, it: each }: Suite): void {
  const it = (name: string, body: (leases: Leases, setup: Case) => Promise<void>): void => {
    each(name, async (setup) => {
      const leases = leasesOf(setup);
      if (leases !== undefined) await body(leases, setup);
    });
  };

  describe("workers' leases", () => {
    it('a lease is held until its time has passed, and again once it is renewed', async (leases) => {
      equal(await leases.renew('w1', LONG_MS), STEADY);
      const { leftMs, isEnded } = await leases.look('w1');
      ok(leftMs > 0 && leftMs <= LONG_MS, String(leftMs));
      equal(isEnded, false);
      await leases.renew('w2', SHORT_MS);
      await eventually('the lease lapses', async () => (await leases.look('w2')).leftMs === 0);
      equal((await leases.holders()).sort(), ['w1', 'w2']);
      equal(await leases.renew('w2', LONG_MS), STEADY);
      ok((await leases.look('w2')).leftMs > 0);
    });

    it('what is registered under a lease outlives it, and is removed once', async (leases, setup) => {
      await leases.renew('w1', SHORT_MS);
      await leases.hold('w1', workOf('a'));
      await leases.hold('w1', workOf('b'));
      await leases.hold('w1', { ...workOf('b'), isPatient: true });
      const theirs = leasesOf(await setup.another().then((other) => ({ ...setup, ...other })));
      await eventually('the lease lapses', async () => (await leases.look('w1')).leftMs === 0);
      const found = (await theirs?.work('w1')) ?? [];
      equal(
        found.sort((one, other) => (one.id < other.id ? -1 : 1)),
        [workOf('a'), { ...workOf('b'), isPatient: true }],
      );
      equal(await theirs?.release('w1', 'a'), true);
      equal(await leases.release('w1', 'a'), false);
      equal((await leases.work('w1')).length, 1);
    });

    it('what is registered is found under every lease, also under one that has lapsed', async (leases) => {
      const ids = ['a', 'b', 'c'];
      equal([...(await leases.registered(ids))], []);
      await leases.renew('w1', SHORT_MS);
      await leases.renew('w2', LONG_MS);
      await leases.hold('w1', workOf('a'));
      await leases.hold('w2', workOf('c'));
      await eventually('the lease lapses', async () => (await leases.look('w1')).leftMs === 0);
      equal([...(await leases.registered(ids))], ['a', 'c']);
      await leases.release('w1', 'a');
      equal([...(await leases.registered(ids))], ['c']);
    });

    it('one judge at a time takes over, and the holder learns of it', async (leases) => {
      await leases.renew('w1', SHORT_MS);
      await leases.hold('w1', workOf('a'));
      const wins = await Promise.all([leases.judge('w1', LONG_MS), leases.judge('w1', LONG_MS)]);
      equal(wins.filter(Boolean).length, 1);
      equal((await leases.renew('w1', LONG_MS)).isOver, true);
      equal(await leases.renew('w1.1', LONG_MS), STEADY);
      equal((await leases.look('w1')).isOver, true);
      equal((await leases.look('w1.1')).isOver, false);
      // The entries stay until each is taken over.
      equal(await leases.work('w1'), [workOf('a')]);
    });

    it('another judge follows one that dies', async (leases) => {
      await leases.hold('w1', workOf('a'));
      equal(await leases.judge('w1', SHORT_MS), true);
      await eventually('another judge follows', () => leases.judge('w1', LONG_MS));
      equal(await leases.work('w1'), [workOf('a')]);
    });

    it('the lease of a process that has ended lapses at once', async (leases) => {
      await leases.renew('w1', LONG_MS);
      await leases.hold('w1', workOf('a'));
      await leases.end('w1');
      equal(await leases.look('w1'), { leftMs: 0, isEnded: true, isOver: false });
      equal(await leases.work('w1'), [workOf('a')]);
      equal(await leases.holders(), ['w1']);
    });

    it('a forgotten lease is not listed, and can begin again', async (leases) => {
      await leases.renew('w1', LONG_MS);
      equal(await leases.forget('w1'), true);
      equal(await leases.forget('w1'), false);
      equal(await leases.holders(), []);
      equal(await leases.look('w1'), { leftMs: 0, isEnded: false, isOver: false });
      await leases.renew('w1', LONG_MS);
      equal(await leases.holders(), ['w1']);
    });

    it('a stop reaches every worker of the namespace with its next renewal', async (leases, setup) => {
      const api = leasesOf(await setup.another().then((other) => ({ ...setup, ...other })));
      await leases.renew('w1', LONG_MS);
      const stop = { sessionId: 's1', runId: 's1:1-a"b' };
      await api?.noteStop(stop);
      for (const holder of ['w1', 'w2']) {
        equal((await leases.renew(holder, LONG_MS)).stops, [stop]);
      }
      equal((await setup.store.leases?.of('another').renew('w3', LONG_MS))?.stops, []);
    });

    it('the death of a worker is known in its namespace', async (leases, setup) => {
      const api = leasesOf(await setup.another().then((other) => ({ ...setup, ...other })));
      equal(await api?.hasDeath(), false);
      await leases.noteDeath();
      equal(await api?.hasDeath(), true);
      equal(await setup.store.leases?.of('another').hasDeath(), false);
    });

    it('namespaces and holders with odd names stay apart', async (leases, { store, streamId }) => {
      const other = store.leases?.of(`namespace ${streamId}}:{`);
      await leases.renew('w:{1}', LONG_MS);
      await leases.hold('w:{1}', workOf('a'));
      equal(await other?.holders(), []);
      equal(await other?.work('w:{1}'), []);
      equal(await leases.holders(), ['w:{1}']);
    });
  });
}

/** The pauses of a fleet that only this case uses. */
function pausesOf({ store }: Pick<Case, 'store'>): Pauses {
  return store.pauses.of(`fleet-${newNonce()}`);
}

const run = (runId: string, startedAt: number, tenant?: string): HeldRun => ({
  runId,
  agent: 'guide',
  startedAt,
  ...(tenant !== undefined && { tenant }),
});
const OF_NONE = { agent: 'guide', everywhere: false };
const OF_ACME = { agent: 'guide', everywhere: false, tenant: 'ac:me/ä' };
const EVERYWHERE = { agent: 'guide', everywhere: true };

function pauseCases({ describe, it }: Suite): void {
  describe('pauses of agents', () => {
    it('runs of a paused agent are held, and released in their order once it is resumed', async (setup) => {
      const pauses = pausesOf(setup);
      equal(await pauses.hold(run('s-0:1-a', 1)), false);
      const about = { at: 5, by: 'olga', reason: 'a "storm"' };
      equal(await pauses.set({ ...OF_NONE, ...about }), true);
      equal(await pauses.set({ ...OF_NONE, ...about, by: 'carl' }), false);
      equal(await pauses.list(), [{ ...OF_NONE, ...about }]);
      for (const at of [3, 1, 2]) equal(await pauses.hold(run(`s-${String(at)}:1-a`, at)), true);
      // The sweeper holds the run again.
      equal(await pauses.hold(run('s-1:1-a', 9)), true);
      equal(await pauses.hold({ ...run('s-4:1-a', 4), agent: 'other' }), false);
      equal(await pauses.isHeld(run('s-2:1-a', 2)), true);
      equal(await pauses.isHeld(run('s-9:1-a', 2)), false);
      equal(await pauses.held(), [{ agent: 'guide', count: 3 }]);
      equal(await pauses.released(10), []);
      equal(await pauses.clear(OF_NONE), true);
      equal(await pauses.clear(OF_NONE), false);
      equal(await pauses.released(2), [run('s-1:1-a', 1), run('s-2:1-a', 2)]);
      for (const { runId, startedAt } of await pauses.released(10)) {
        await pauses.drop(run(runId, startedAt));
      }
      equal(await pauses.released(10), []);
      equal(await pauses.held(), []);
    });

    it('a run that is postponed is released later, behind the others', async (setup) => {
      const pauses = pausesOf(setup);
      await pauses.set({ ...OF_NONE, at: 5, by: 'olga' });
      for (const at of [1, 2, 3]) await pauses.hold(run(`s-${String(at)}:1-a`, at));
      await pauses.clear(OF_NONE);
      await pauses.postpone(run('s-1:1-a', 1), Date.now() + 60_000);
      await pauses.postpone(run('s-2:1-a', 2), 4);
      // This run is no longer held.
      await pauses.postpone(run('s-9:1-a', 9), 5);
      equal(await pauses.released(10), [run('s-3:1-a', 3), run('s-2:1-a', 4)]);
      equal(await pauses.isHeld(run('s-1:1-a', 1)), true);
      equal(await pauses.isHeld(run('s-9:1-a', 9)), false);
    });

    it('a pause is of one tenant, of users without one, or over all', async (setup) => {
      const pauses = pausesOf(setup);
      await pauses.set({ ...OF_ACME, at: 1, by: 'olga' });
      equal(await pauses.hold(run('s-1:1-a', 1)), false);
      equal(await pauses.hold(run('s-2:1-a', 2, OF_ACME.tenant)), true);
      await pauses.set({ ...EVERYWHERE, at: 2, by: 'root' });
      equal(await pauses.hold(run('s-1:1-a', 1)), true);
      const listed = (await pauses.list()).sort((a, b) => a.at - b.at);
      equal(listed, [
        { ...OF_ACME, at: 1, by: 'olga' },
        { ...EVERYWHERE, at: 2, by: 'root' },
      ]);
      await pauses.clear(OF_ACME);
      // The agent is still paused for all tenants.
      equal(await pauses.released(10), []);
      await pauses.clear(EVERYWHERE);
      equal(await pauses.released(10), [run('s-1:1-a', 1), run('s-2:1-a', 2, OF_ACME.tenant)]);
      equal(await pauses.of('another').list(), []);
    });
  });
}

function requestCases({ describe, it }: Suite): void {
  describe('requests that name themselves', () => {
    it('a request is claimed once, and its reply outlasts a later refusal', async (setup) => {
      const { store } = setup;
      const { requests } = store;
      const key = newNonce();
      const claims = await Promise.all([1, 2, 3].map(() => requests.claim(key, 'd1', LONG_MS)));
      equal(claims.filter(({ kind }) => kind === 'new').length, 1);
      equal(await requests.claim(key, 'd2', LONG_MS), {
        kind: 'known',
        digest: 'd1',
        reply: undefined,
      });
      await requests.settle(key, '{"ä":"\\u0000"}', LONG_MS, 'd1');
      const known = { kind: 'known', digest: 'd1', reply: '{"ä":"\\u0000"}' };
      equal(await requests.claim(key, 'd1', LONG_MS), known);
      // One that took the key behind the end of this claim is refused.
      await requests.drop(key);
      equal(await requests.claim(key, 'd2', LONG_MS), known);
      equal(await requests.claim(newNonce(), 'd1', LONG_MS), { kind: 'new' });
    });

    it('a reply that is kept behind the end of its claim is that of its content', async (setup) => {
      const { requests } = setup.store;
      const key = newNonce();
      await requests.settle(key, '1', LONG_MS, 'd1');
      const known = { kind: 'known', digest: 'd1', reply: '1' };
      equal(await requests.claim(key, 'd2', LONG_MS), known);
      await requests.settle(key, '2', SHORT_MS, 'd1');
      await eventually(
        'it is forgotten',
        async () => (await requests.claim(key, 'd2', LONG_MS)).kind === 'new',
      );
    });

    it('a claim that is renewed lasts from then on; one that was dropped is not made again', async (setup) => {
      const { requests } = setup.store;
      const [key, dropped] = [newNonce(), newNonce()];
      await requests.claim(key, 'd1', 10 * LONG_MS);
      // A shorter time shows that the renewal counts, however slow the store is.
      await requests.renew(key, SHORT_MS);
      await eventually(
        'it is over',
        async () => (await requests.claim(key, 'd1', LONG_MS)).kind === 'new',
      );
      await requests.claim(dropped, 'd1', LONG_MS);
      await requests.drop(dropped);
      await requests.renew(dropped, LONG_MS);
      equal((await requests.claim(dropped, 'd1', LONG_MS)).kind, 'new');
    });
  });
}

export function fleetCases(suite: Suite): void {
  dueSessionCases(suite);
  workerLeaseCases(suite);
  pauseCases(suite);
  requestCases(suite);
}
