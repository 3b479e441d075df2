import { toAct } from '../../runs/record/acts.js';
import { createSweep } from '../../runs/sweep.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { createIdleRuns, IDLE_WORKFLOWS } from '../support/idle-workflows.js';
import { drive } from '../support/session-driver.js';

/** A starting run whose workflow Temporal does not know yet. */
async function openStarting() {
  const stores = createMemoryStores();
  const session = drive(stores);
  const { runId } = await session.newRun();
  const unknown = [runId];
  const erase = () => Promise.resolve({ deleted: 0, unknown });
  const runs = createIdleRuns(stores, { workflows: { erase } });
  const acts = async (): Promise<string[]> => {
    const { entries } = await stores.store.audit.page(undefined, { limit: 9 });
    return entries.map(({ entry }) => entry.action).reverse();
  };
  return { ...stores, session, runId, unknown, runs, acts };
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe('the receipt of an erasure', () => {
  it('is not given while a run that was starting may still appear', async () => {
    const { store, session, runs, acts } = await openStarting();
    expect(await runs.deleteSession(session.id, 'ann')).toMatchObject({ complete: false });
    expect(await runs.finishErasures(session.id)).toBe(false);
    expect(await acts()).toEqual(['erase']);
    expect(await store.erasures.of(session.id)).toHaveLength(1);
  });

  it('is given at once if the run has claimed a step, so that it cannot appear any more', async () => {
    const { store, session, runId, runs, acts } = await openStarting();
    await session.claim(session.writer(runId, 1, 1));
    const receipt = await runs.deleteSession(session.id, 'ann');
    const counts = { sessions: 1, workflows: 0, rows: 1, entries: 0 };
    expect(receipt).toMatchObject({ by: 'ann', complete: true, ...counts });
    expect(receipt?.bytes).toBeGreaterThan(0);
    expect(await acts()).toEqual(['erase', 'erased']);
    const { entries } = await store.audit.page(undefined, { limit: 1 });
    const detail = { ...counts, bytes: receipt?.bytes };
    expect(entries[0]?.entry).toMatchObject({ outcome: 'complete', detail });
    expect(await store.erasures.of(session.id)).toEqual([]);
  });

  it('is given at once if Temporal knows that run, and only an older one no longer', async () => {
    const { session, unknown, runs } = await openStarting();
    unknown.splice(0, 1, 'run-of-last-year');
    expect(await runs.deleteSession(session.id, 'ann')).toMatchObject({ complete: true });
  });

  it('is not given at once for a run that was stopped just now, whenever it had begun', async () => {
    // The store takes its clock when it is created.
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now());
    const { session, runs } = await openStarting();
    clock.mockReturnValue(Date.now() + 10 * 60_000);
    expect(await runs.deleteSession(session.id, 'ann')).toMatchObject({ complete: false });
  });

  it('is given once when such a run can appear no longer', async () => {
    const { store, session, runs, acts } = await openStarting();
    const act = { id: 'e1', at: Date.now() - 60_000, by: 'ann', action: 'erase' as const };
    await store.sessions.erase(session.id, act);
    for (const _time of [1, 2]) expect(await runs.finishErasures(session.id)).toBe(true);
    expect(await acts()).toEqual(['erase', 'erased']);
  });
});

it('an erasure names every run that it removes, also one that begins meanwhile', async () => {
  const { store, session } = await openStarting();
  const act = { id: 'e1', at: 1, by: 'ann', action: 'erase' as const };
  // The other request comes ever later, until the erasure no longer meets its run.
  for (let steps = 0, isLeft = false; !isLeft; steps += 1) {
    const before = (await session.record()) ?? (await session.newRun());
    await session.end(before.runId, 'completed');
    const erased = store.sessions.erase(session.id, act);
    for (let step = 0; step < steps; step += 1) await Promise.resolve();
    const { runId } = await session.newRun();
    await erased;
    const named = (await store.erasures.of(session.id)).flatMap(({ runs }) => runs);
    isLeft = (await session.record())?.runId === runId;
    // A run that is left is the first of a new conversation.
    expect(isLeft ? runId.startsWith(`${session.id}:1-`) : named.includes(runId)).toBe(true);
  }
});

describe('the sweep of another process', () => {
  /** Opens a run that has claimed a step, and a sweep a minute later. */
  async function openClaimed() {
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now());
    const opened = await openStarting();
    const { store, session, runId, runs } = opened;
    await session.claim(session.writer(runId, 1, 1));
    const due = store.due.of(IDLE_WORKFLOWS.fleet);
    const sweep = createSweep({
      store: { ...store, due },
      runs,
      holder: 'another',
      logger: { warn: () => undefined },
    });
    const sweepLater = async (): Promise<void> => {
      clock.mockReturnValue(Date.now() + 60_000);
      await sweep();
    };
    return { ...opened, due, sweepLater };
  }

  it('relays the act of a process that died', async () => {
    const { store, session, due, acts, sweepLater } = await openClaimed();
    await due.note(session.id, 0);
    await store.runs.stop(session.id, { mode: 'interrupt', act: toAct('stop', { by: 'bob' }) });
    expect(await acts()).toEqual([]);
    await sweepLater();
    expect(await acts()).toEqual(['stop']);
  });

  it('finishes the erasure of a process that died while it waited for Temporal', async () => {
    const { store, streamManager, session, acts, sweepLater } = await openClaimed();
    await new Promise<void>((resolve) => {
      const erase = (): Promise<never> => {
        resolve();
        return new Promise(() => undefined);
      };
      const dies = createIdleRuns({ store, streamManager }, { workflows: { erase } });
      void dies.deleteSession(session.id, 'ann');
    });
    expect(await store.sessions.read(session.id)).toBeUndefined();
    expect(await store.erasures.of(session.id)).toHaveLength(1);
    await sweepLater();
    expect(await store.erasures.of(session.id)).toEqual([]);
    expect(await acts()).toEqual(['erase', 'erased']);
  });
});
