import { equal, includes } from '../assertions.js';
import type { Suite } from '../suite.js';

export function pinToolsCases({ describe, it }: Suite): void {
  describe('pin tools', () => {
    it('the first list counts for as long as the run is active', async ({ store, session }) => {
      const { runId } = await session.newRun();
      const run = { sessionId: session.id, runId };
      equal(await store.runs.pinTools(run), { kind: 'none' });
      const first = [{ name: 'a', inputSchema: { required: [], properties: {} } }];
      equal(await store.runs.pinTools({ ...run, tools: first }), { kind: 'pinned', tools: first });
      equal(await store.runs.pinTools({ ...run, tools: [] }), { kind: 'pinned', tools: first });
      await session.claim(session.writer(runId, 1, 1));
      await session.claim(session.writer(runId, 1, 2));
      equal(await store.runs.pinTools(run), { kind: 'pinned', tools: first });
    });

    it('a run that is over has none, and the next run chooses for itself', async ({
      store,
      session,
    }) => {
      const { runId } = await session.newRun();
      const run = { sessionId: session.id, runId };
      includes(await store.runs.pinTools({ ...run, tools: ['of the first'] }), { kind: 'pinned' });
      await session.end(runId, 'completed');
      equal(await store.runs.pinTools(run), { kind: 'superseded' });
      const next = await session.newRun('u2');
      const other = { sessionId: session.id, runId: next.runId };
      equal(await store.runs.pinTools(other), { kind: 'none' });
      equal(await store.runs.pinTools({ ...run, tools: ['too late'] }), { kind: 'superseded' });
      equal(await store.runs.pinTools(other), { kind: 'none' });
    });
  });
}
