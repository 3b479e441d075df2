import { HelixError } from '../../protocol/errors.js';
import { toAct } from '../../runs/record/acts.js';
import type { RunWorkflows } from '../../runs/run-workflows.js';
import { createSweep } from '../../runs/sweep.js';
import { dueShardOf } from '../../store/contract/due.js';
import { createMemoryStores, type MemoryOptions } from '../../store/memory/index.js';
import { createIdleRuns, IDLE_WORKFLOWS } from '../support/idle-workflows.js';
import { drive } from '../support/session-driver.js';

/** A starting run whose workflow Temporal does not know yet. */
async function openStarting(workflows: Partial<RunWorkflows> = {}, options?: MemoryOptions) {
  const stores = createMemoryStores(options);
  const session = drive(stores);
  const { runId } = await session.newRun();
  const unknown = [runId];
  const erase = () => Promise.resolve({ deleted: 0, unknown });
  const runs = createIdleRuns(stores, { workflows: { erase, ...workflows } });
  const acts = async (): Promise<string[]> => {
    const { entries } = await stores.store.audit.page(undefined, { limit: 9 });
    return entries.map(({ entry }) => entry.action).reverse();
  };
  return { ...stores, session, runId, unknown, runs, acts };
}

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

  it('is given once, also by a process that repeats the erasure of one that died', async () => {
    const { store, session, runId, runs, acts } = await openStarting();
    await session.claim(session.writer(runId, 1, 1));
    jest.spyOn(store.erasures, 'done').mockRejectedValueOnce(new Error('it died'));
    expect(await runs.deleteSession(session.id, 'ann')).toMatchObject({ complete: false });
    expect(await acts()).toEqual(['erase', 'erased']);
    expect(await runs.finishErasures(session.id)).toBe(true);
    expect(await acts()).toEqual(['erase', 'erased']);
  });

  it('is of the own erasure, and earlier ones of the id are not complete because of it', async () => {
    const { store, session, runs } = await openStarting();
    const eraseNext = async (): Promise<void> => {
      const { runId } = await session.newRun();
      await session.claim(session.writer(runId, 1, 1));
    };
    await runs.deleteSession(session.id, 'ann');
    await eraseNext();
    const receipt = await runs.deleteSession(session.id, 'bob');
    expect(receipt).toMatchObject({ by: 'bob', complete: true });
    await eraseNext();
    await store.sessions.erase(session.id, { id: 'e3', at: Date.now(), action: 'erase' });
    expect(await runs.finishErasures(session.id)).toBe(false);
  });
});

describe('an erasure', () => {
  it('that Temporal interrupts is completed by the next request, which finds nothing else', async () => {
    let isAway = true;
    const erase: RunWorkflows['erase'] = () =>
      isAway ? Promise.reject(new Error('away')) : Promise.resolve({ deleted: 1, unknown: [] });
    const { store, session, runs, acts } = await openStarting({ erase });
    expect(await runs.deleteSession(session.id, 'ann')).toMatchObject({ complete: false });
    isAway = false;
    expect(await runs.deleteSession(session.id, 'ann')).toBeUndefined();
    expect(await store.erasures.of(session.id)).toEqual([]);
    expect(await acts()).toEqual(['erase', 'erased']);
  });

  it('lets Temporal end the workflow, since one that a signal ended just before is deleted late', async () => {
    const wake = jest.fn(() => Promise.resolve());
    const { session, runId, runs } = await openStarting({ wake });
    await session.claim(session.writer(runId, 1, 1));
    expect(await runs.deleteSession(session.id, 'ann')).toMatchObject({ complete: true });
    expect(wake).not.toHaveBeenCalled();
  });

  it('does not begin while a run at work cannot be reached, and needs not reach one that starts', async () => {
    const state = () => Promise.reject(new HelixError('unavailable', 'away'));
    for (const isAtWork of [true, false]) {
      const { session, runId, runs } = await openStarting({ state });
      if (isAtWork) await session.claim(session.writer(runId, 1, 1));
      const erased = runs.deleteSession(session.id, 'ann');
      if (isAtWork) await expect(erased).rejects.toMatchObject({ code: 'unavailable' });
      else expect(await erased).toMatchObject({ complete: false });
      const stop = { mode: 'abort', reason: 'deleted', by: 'ann' };
      const left = isAtWork ? expect.objectContaining({ stop }) : undefined;
      expect(await session.record()).toEqual(left);
    }
  });

  it('removes the bytes of files, also of those whose conversation never began', async () => {
    const removed: string[] = [];
    const files = {
      write: () => Promise.resolve(),
      read: () => Promise.resolve(undefined),
      remove: async ({ fileId }: { fileId: string }) => void removed.push(fileId),
    };
    const { store, session, runs } = await openStarting({}, { files });
    const upload = async (sessionId: string): Promise<string> => {
      const content = Buffer.from('x');
      const whose = { sessionId, owner: 'ann', mediaType: 'text/plain' };
      return (await runs.uploads.upload({ ...whose, content })).id;
    };
    const own = await upload(session.id);
    await runs.deleteSession(session.id, 'ann');
    expect(removed).toEqual([own]);
    const bytes = async () => (await store.owners.usage({ owner: 'ann' })).bytes;
    await upload('never-begun');
    expect(await bytes()).toBe(1);
    await runs.finishErasuresOf({ owner: 'ann' });
    expect(await bytes()).toBe(0);
    const due = store.due.of(IDLE_WORKFLOWS.fleet);
    const noted = await due.listed('urgent', dueShardOf('never-begun'), 0, 9);
    expect(noted).toContain('never-begun');
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
