import { LIMITS } from '../../../protocol/limits.js';
import { equal } from '../assertions.js';
import { newNonce } from '../fixtures.js';
import type { Suite } from '../suite.js';

export function batchRecordCases({ describe, it }: Suite): void {
  describe('records of batches', () => {
    it('what was stored first stays, with what was refused before the batch began', async ({
      store: { batches },
    }) => {
      if (batches === undefined) return;
      const [id, actor] = [
        `b-${newNonce()}`,
        { userId: `olga-${newNonce()}`, via: 'api' as const },
      ];
      const work = { actor, items: [['s-1:1-a'] as const], refused: 1 };
      const refused = [{ target: 's-2:1-a', code: 'not_allowed' }];
      equal(await batches.save(id, work, refused), work);
      const later = [{ target: 's-3:1-a', code: 'not_allowed' }];
      equal(await batches.save(id, { ...work, items: [], refused: 0 }, later), work);
      equal(await batches.about(id), { by: actor.userId, problems: refused });
      await batches.end(id);
      equal(await batches.work(id), undefined);
      equal(await batches.about(id), { by: actor.userId, problems: refused });
      equal(await batches.of({ owner: actor.userId }), [id]);
    });

    it('a batch names a few of its refusals, and none once it is forgotten', async ({
      store: { batches },
    }) => {
      if (batches === undefined) return;
      const [id, owner] = [`b-${newNonce()}`, `olga-${newNonce()}`];
      const problemOf = (n: number): { target: string; code: string } => ({
        ...{ target: `s-${String(n)}:1-a`, code: 'not_allowed' },
      });
      await batches.save(id, { actor: { userId: owner, via: 'api' }, items: [], refused: 0 });
      const many = Array.from({ length: LIMITS.batchProblems - 1 }, (_, n) => problemOf(n));
      await batches.refuse(id, many);
      await batches.refuse(id, [...many, problemOf(100), problemOf(101)]);
      const { problems } = await batches.about(id);
      equal(problems.length, LIMITS.batchProblems);
      const isNamed = (n: number) => problems.some(({ target }) => target === problemOf(n).target);
      equal([isNamed(100), isNamed(101)], [true, false]);
      await batches.forget({ owner }, id);
      await batches.refuse(id, [problemOf(1)]);
      equal(await batches.about(id), { problems: [] });
    });
  });
}
