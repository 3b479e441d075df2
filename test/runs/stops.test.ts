import { createMemoryStores } from '../../store/memory/index.js';
import { createIdleRuns, IDLE_WORKFLOWS } from '../support/idle-workflows.js';
import { drive } from '../support/session-driver.js';
import { until } from '../support/until.js';

it('a stop of a run whose model speaks is in the mailbox of the workers, too', async () => {
  const { store, streamManager } = createMemoryStores();
  const session = drive({ store, streamManager });
  const { runId } = await session.newRun();
  await session.claim(session.writer(runId, 1, 1));
  const { stop } = createIdleRuns({ store, streamManager });
  expect(await stop(session.id, { mode: 'interrupt' })).toMatchObject({ kind: 'stopping' });
  const workers = store.leases?.of(IDLE_WORKFLOWS.namespace);
  const renewed = await until('a renewal brings it', async () => {
    const { stops } = (await workers?.renew('worker', 1_000)) ?? { stops: [] };
    return stops.length > 0 ? stops : undefined;
  });
  expect(renewed).toEqual([{ sessionId: session.id, runId }]);
});
