import type { HeldRun, Pauses } from '../../contract/pauses.js';
import { equal } from '../assertions.js';
import { newNonce } from '../fixtures.js';
import type { Case, Suite } from '../suite.js';

/** The pauses of a fleet that only this case uses. */
function pausesOf({ store }: Pick<Case, 'store'>): Pauses {
  return store.pauses.of(`fleet-${newNonce()}`);
}

const run = (runId: string, startedAt: number, tenant?: string): HeldRun => ({
  ...{ runId, agent: 'guide', startedAt },
  ...(tenant !== undefined && { tenant }),
});
const OF_NONE = { agent: 'guide', everywhere: false };
const OF_ACME = { agent: 'guide', everywhere: false, tenant: 'ac:me/ä' };
const EVERYWHERE = { agent: 'guide', everywhere: true };

export function pauseCases({ describe, it }: Suite): void {
  describe('pauses of agents', () => {
    it('runs of a paused agent are held, and released in their order once it is resumed', async (setup) => {
      const pauses = pausesOf(setup);
      equal(await pauses.hold(run('s-0:1-a', 1)), false);
      const about = { at: 5, by: 'olga', reason: 'a "storm"' };
      equal(await pauses.set({ ...OF_NONE, ...about }), true);
      equal(await pauses.set({ ...OF_NONE, ...about, by: 'carl' }), false);
      equal(await pauses.list(), [{ ...OF_NONE, ...about }]);
      for (const at of [3, 1, 2]) equal(await pauses.hold(run(`s-${String(at)}:1-a`, at)), true);
      // It is held again by the sweeper.
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
      // It is held no more.
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
      equal((await pauses.list()).length, 2);
      await pauses.clear(OF_ACME);
      // It is still paused over all.
      equal(await pauses.released(10), []);
      await pauses.clear(EVERYWHERE);
      equal(await pauses.released(10), [run('s-1:1-a', 1), run('s-2:1-a', 2, OF_ACME.tenant)]);
      equal(await pauses.of('another').list(), []);
    });
  });
}
