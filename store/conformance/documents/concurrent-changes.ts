import { equal, includes, refuses } from '../assertions.js';
import type { Suite } from '../suite.js';
import { begun, set } from './staged.js';

export function concurrentChangeCases({ describe, it }: Suite): void {
  describe('staged changes under concurrency', () => {
    it('concurrent promoters take each change once', async (setup) => {
      const { session, another } = setup;
      const other = (await another()).store;
      const { stage, promote, state } = await begun(setup, { list: [] });
      for (let n = 0; n < 10; n += 1) await stage(`c${String(n)}`, set('/list/-', n));
      await Promise.all([
        promote(),
        other.staging.promote(session.id, 's1'),
        promote(),
        other.staging.promote(session.id, 's1'),
      ]);
      equal(await state(), { list: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] });
    });

    it('a promotion that overtakes a save refuses that save and loses no change', async (setup) => {
      const { store, session } = setup;
      const { stage, promote, state } = await begun(setup);
      for (let n = 0; n < 10; n += 1) {
        await stage(`c${String(n)}`, set(`/c${String(n)}`, n));
        const { version = 0, customState = {} } = (await session.load()) ?? {};
        await Promise.all([
          promote(),
          store.documents
            .save(session.id, { customState: { ...customState, saved: n }, version })
            .catch((error: unknown) => refuses(Promise.reject(error as Error), 'stale_state')),
        ]);
      }
      includes(
        await state(),
        Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`c${String(n)}`, n])),
      );
    });

    it('changes that are replaced while being promoted are not lost', async (setup) => {
      const { session } = setup;
      const { stage, promote, state } = await begun(setup);
      // After a varying number of reads the replacement falls between two commands of the
      // promotion. On a busy machine one of them may run ahead, so this is repeated.
      for (let attempt = 0; attempt < 32; attempt += 1) {
        await stage('c', set('/value', `old ${String(attempt)}`));
        const promoting = promote();
        for (let reads = attempt % 8; reads > 0; reads -= 1) await session.record();
        await stage('c', set('/value', `new ${String(attempt)}`));
        await promoting;
        await promote();
        equal(await state(), { value: `new ${String(attempt)}` });
      }
    });
  });
}
