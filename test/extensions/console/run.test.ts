import { toOperatorRun } from '../../../extensions/console/run.js';
import type { RouteDeps } from '../../../api/deps.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { drive, newSessionId } from '../../support/session-driver.js';

it('a run whose record is of another tenant is not shown', async () => {
  const { store, ...rest } = createMemoryStores();
  // As Temporal lists it if its workflow was started without search attributes.
  const listed = async (tenant?: string) => {
    const session = drive({ store, ...rest }, newSessionId());
    const begun = await session.newRun({ owner: 'ann', ...(tenant !== undefined && { tenant }) });
    return { runId: begun.runId, agent: 'lab', status: 'running' as const, startedAt: 1 };
  };
  const deps = { stateStore: store } as Pick<RouteDeps, 'stateStore'>;
  const [ofTenant, ofNone] = [await listed('acme'), await listed()];
  expect(await toOperatorRun(deps, {}, ofTenant)).toEqual([]);
  expect(await toOperatorRun(deps, { tenantId: 'other' }, ofTenant)).toEqual([]);
  expect(await toOperatorRun(deps, { tenantId: 'acme' }, ofTenant)).toMatchObject([
    { runId: ofTenant.runId },
  ]);
  expect(await toOperatorRun(deps, {}, ofNone)).toMatchObject([{ runId: ofNone.runId }]);
  // Its record has expired.
  const gone = { ...ofNone, runId: 'gone:1-x' };
  expect(await toOperatorRun(deps, {}, gone)).toMatchObject([gone]);
});
