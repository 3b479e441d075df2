import { equal, includes } from '../assertions.js';
import type { Suite } from '../suite.js';

export function compactCases({ describe, it }: Suite): void {
  describe('compact', () => {
    const usage = { inputTokens: 5, outputTokens: 2, costMicroUsd: 7 };
    const first = { rows: 3, summary: '"so far" – { }' };
    const other = { rows: 3, summary: 'otherwise' };

    it('the first summary of a step counts, whichever attempt asks, and is charged once', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      equal(await store.steps.compact({ writer }), { kind: 'none' });
      const kept = { kind: 'kept', compaction: first };
      equal(await store.steps.compact({ writer, compaction: first, usage }), kept);
      equal(await store.steps.compact({ writer, compaction: other, usage }), kept);
      const next = session.writer(runId, 1, 2);
      includes(await session.claim(next), { usage });
      equal(await store.steps.compact({ writer: next }), kept);
    });

    it('an attempt that was replaced keeps none, and neither does a run that is over', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      await session.claim(session.writer(runId, 1, 2));
      equal(await store.steps.compact({ writer, compaction: first, usage }), { kind: 'fenced' });
      equal(await store.steps.compact({ writer }), { kind: 'none' });
      await session.end(runId, 'completed');
      equal(await store.steps.compact({ writer, compaction: first }), { kind: 'superseded' });
      const run = await session.newRun('u2');
      const after = session.writer(run.runId, 1, 3);
      await session.claim(after);
      equal(await store.steps.compact({ writer: after }), { kind: 'none' });
    });
  });
}
