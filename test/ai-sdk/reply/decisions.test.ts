import { buildSnapshot } from '../../../ai-sdk/index.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { drive, newCall } from '../../support/session-driver.js';

it('a snapshot says who decided about each call, also in turns that are over', async () => {
  const stores = createMemoryStores();
  const session = drive(stores);
  const decisions = async (): Promise<unknown> => {
    const deps = { ...stores, stateStore: stores.store };
    const caller = { userId: 'ann' };
    return (await buildSnapshot(deps, { sessionId: session.id, caller }))?.decisions;
  };
  const { runId } = await session.asked(newCall('c1', 'approval'), newCall('c2', 'approval'));
  expect(await decisions()).toBeUndefined();
  await session.decide(runId, 'c1', false);
  const [denied] = [{ toolCallId: 'c1', approved: false, at: expect.any(Number) }];
  expect(await decisions()).toMatchObject([denied]);
  await session.decide(runId, 'c2', true);
  await session.carryOut(runId, 1, 'c2', 'paid');
  const both = [denied, { toolCallId: 'c2', approved: true, at: expect.any(Number) }];
  expect(await decisions()).toMatchObject(both);
  const next = session.writer(runId, 2, 2);
  await session.claim(next);
  await session.commit(next);
  const { runId: later } = await session.newRun();
  await session.ask(later, 1, [newCall('c3', 'approval')]);
  expect(await decisions()).toMatchObject([denied]);
});
