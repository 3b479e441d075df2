import { ok } from 'node:assert/strict';
import { equal, eventually } from '../assertions.js';
import type { HeldWork, Leases } from '../../contract/leases.js';
import type { Case, Suite } from '../suite.js';

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
/** Where a case is not about the end of a lease. */
const LONG_MS = 60_000;
const SHORT_MS = 20;

export function workerLeaseCases({ describe, it: each }: Suite): void {
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
      // The entries stay until each of them was taken over.
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
