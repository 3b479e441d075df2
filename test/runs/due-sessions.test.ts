import { createReconcile } from '../../runs/reconcile.js';
import { createRepair, createSweep, startSweeper } from '../../runs/sweep.js';
import type { SweptSession } from '../../runs/sweep-session.js';
import type { RunWorkflows } from '../../runs/run-workflows.js';
import { DUE_SHARDS, dueShardOf } from '../../store/contract/due.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { IDLE_WORKFLOWS } from '../support/idle-workflows.js';
import { drive, userMessage } from '../support/session-driver.js';

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

/** A session whose sweeps fail. */
const BROKEN = 'broken';

/** Opens a sweep over sessions in this state, with a clock. */
function open(found: SweptSession, finishErasures = () => Promise.resolve(true)) {
  let time = 1_000_000;
  const { store } = createMemoryStores({ now: () => time });
  const looked: string[] = [];
  const budgets: (number | undefined)[] = [];
  const [forget, fold, take] = [
    jest.spyOn(store.waiting, 'forget'),
    jest.spyOn(store.owners, 'fold'),
    jest.spyOn(store.owners, 'take'),
  ];
  const sweep = createSweep({
    store,
    holder: 'x',
    logger: { warn: () => undefined },
    runs: {
      sweepSession: (sessionId, budget) => {
        looked.push(sessionId);
        if (sessionId === BROKEN) return Promise.reject(new Error('broken'));
        budgets.push(budget?.looks);
        return Promise.resolve(found);
      },
      finishErasures,
    },
  });
  /** Advances the clock and returns the sessions that the sweep looked at. */
  const after = async (ms: number): Promise<string[]> => {
    time += ms;
    await sweep();
    return looked.splice(0);
  };
  return { due: store.due, after, budgets, forget, fold, take };
}

it.each<[SweptSession, done: number[]]>([
  [{ kind: 'idle' }, [1, 1]],
  [{ kind: 'waiting', untilDeadlineMs: HOUR }, [0, 1]],
  [{ kind: 'active', againMs: HOUR }, [0, 0]],
])(
  'a session that is %j is taken off the list of those that ask, and charged: %j',
  async (found, done) => {
    const { due, after, forget, fold, take } = open(found);
    await due.note('s1', 0);
    await after(SECOND);
    expect([forget, fold].map((spied) => spied.mock.calls.length)).toEqual(done);
    // With the first shard, owners are repaired.
    expect(take).toHaveBeenCalledTimes(1);
  },
);

it('a shard is swept once in a second, and looks at what waits are not limited', async () => {
  const { due, after, budgets } = open({ kind: 'waiting', untilDeadlineMs: HOUR });
  await due.note('s1', 0);
  expect(await after(SECOND)).toEqual(['s1']);
  await due.note('s1', 0);
  expect(await after(0)).toEqual([]);
  expect(await after(2 * SECOND)).toEqual(['s1']);
  expect(await after(10 * SECOND)).toEqual(['s1']);
  expect(budgets).toEqual([5, 5, Infinity]);
});

it.each([
  ['is not complete', () => Promise.resolve(false)],
  ['fails', () => Promise.reject(new Error('away'))],
])('a session whose erasure %s is looked at soon, until it is', async (_, finish) => {
  const { due, after } = open({ kind: 'idle' }, finish);
  await due.note('s1', 0);
  for (const ms of [SECOND, 5 * SECOND, 5 * SECOND]) expect(await after(ms)).toEqual(['s1']);
});

it('a session whose sweep fails delays no other, and is looked at again', async () => {
  const { due, after } = open({ kind: 'active', againMs: SECOND });
  await due.note(BROKEN, 0);
  await due.note('s1', 0);
  expect((await after(SECOND)).sort()).toEqual([BROKEN, 's1']);
  expect((await after(5 * SECOND)).sort()).toEqual([BROKEN, 's1']);
});

it('a sweeper sweeps twice a second, also after a failure, until it is stopped, which waits for the last', async () => {
  jest.useFakeTimers();
  const logger = { warn: () => undefined };
  let [sweeps, hasEnded, finish] = [0, false, (): void => undefined];
  const sweep = async (): Promise<void> => {
    sweeps += 1;
    if (sweeps === 1) throw new Error('away');
    if (sweeps === 3) await new Promise<void>((resolve) => (finish = resolve));
  };
  const { stop } = startSweeper(sweep, logger);
  await jest.advanceTimersByTimeAsync(240);
  expect(sweeps).toBe(1);
  await jest.advanceTimersByTimeAsync(2 * 750);
  const stopped = stop().then(() => (hasEnded = true));
  await jest.advanceTimersByTimeAsync(SECOND);
  expect([sweeps, hasEnded]).toEqual([3, false]);
  finish();
  await stopped;
  const idle = startSweeper(sweep, logger);
  await jest.advanceTimersByTimeAsync(0);
  await idle.stop();
  await jest.advanceTimersByTimeAsync(2 * SECOND);
  expect(sweeps).toBe(4);
});

it('owners are looked through once at a time, and one that cannot be delays no other', async () => {
  const [asked, repaired]: [number[], string[]] = [[], []];
  const warn = jest.fn();
  const repair = createRepair(
    {
      take: async (limit) => {
        if (asked.push(limit) === 3) throw new Error('away');
        return [{ owner: 'ann' }, { owner: 'bob' }];
      },
      repair: async ({ owner }) => {
        repaired.push(owner);
        if (owner === 'ann') throw new Error('away');
      },
    },
    { warn },
  );
  const counts: number[][] = [];
  for (let round = 0; round < 3; round += 1) {
    repair();
    repair();
    await new Promise(setImmediate);
    counts.push([asked.length, repaired.length, warn.mock.calls.length]);
  }
  expect(counts).toEqual([
    [1, 2, 1],
    [2, 4, 2],
    [3, 4, 3],
  ]);
});

describe('the search for what nobody looks at', () => {
  const memory = createMemoryStores();
  const stores = { ...memory, session: drive(memory) };

  /** Opens a search among what Temporal lists. */
  function search(workflows: Partial<RunWorkflows>, isLeased = true) {
    const [noted, woken]: [string[], string[]] = [[], []];
    const due = {
      leaseWork: () => Promise.resolve(isLeased),
      note: (sessionId: string) => Promise.resolve(void noted.push(sessionId)),
    };
    const wake: RunWorkflows['wake'] = (runId, hint) =>
      Promise.resolve(void woken.push(`${runId} ${String(hint?.ended)}`));
    const find = createReconcile({
      store: { sessions: stores.store.sessions, due: { ...stores.store.due, ...due } },
      workflows: { ...IDLE_WORKFLOWS, wake, ...workflows },
      holder: 'x',
      logger: { warn: () => undefined },
    });
    return { find, noted, woken };
  }

  it('notes each closed one once, those of sub-agents not, and goes on from the newest', async () => {
    const asked: number[] = [];
    const closedAt = Date.now();
    const { find, noted } = search({
      closedSince: (since) => {
        asked.push(since);
        const at = closedAt + asked.length;
        const closed = ['a:1-x', 'b.c:1-x'].map((runId, n) => ({ runId, closedAt: at - n }));
        return Promise.resolve(closed);
      },
    });
    for (let n = 0; n < 3; n += 1) {
      await find();
      expect(noted).toEqual(['a']);
    }
    expect(asked.slice(1)).toEqual([closedAt + 1 - MINUTE, closedAt + 2 - MINUTE]);
    const closedAway = { closedSince: () => Promise.reject(new Error('away')) };
    await search(closedAway, false).find();
    let isAsked = false;
    const openPage = async () => {
      isAsked = true;
      return { runIds: [], next: undefined };
    };
    await expect(search({ ...closedAway, openPage }).find()).rejects.toThrow('away');
    expect(isAsked).toBe(true);
  });

  it('wakes the workflows of runs that are over, and notes silent ones, page by page', async () => {
    const { session } = stores;
    const old = await session.newRun();
    await session.end(old.runId, 'completed');
    const { runId } = await session.newRun({ now: 1, messages: [userMessage('u2')] });
    const [active, over, closing] = [drive(memory), drive(memory), drive(memory)];
    const { runId: working } = await active.claimed();
    const { runId: ended } = await over.newRun();
    await over.end(ended, 'completed', { now: 1 });
    const { runId: endedNow } = await closing.newRun();
    await closing.end(endedNow, 'completed');
    const pages = [
      [old.runId, `${session.id}.x:1-y`],
      [runId, working, ended, endedNow],
    ];
    const read: (number | undefined)[] = [];
    const { find, noted, woken } = search({
      openPage: (page) => {
        const at = page?.[0] ?? 0;
        read.push(at);
        if (read.length === 3) return Promise.reject(new Error('away'));
        const next = at < 2 ? new Uint8Array([at + 1]) : undefined;
        return Promise.resolve({ runIds: pages[at] ?? [], next });
      },
    });
    await find();
    await find();
    await expect(find()).rejects.toThrow('away');
    // After a failure the search starts again at the first page.
    await find();
    expect(read).toEqual([0, 1, 2]);
    expect(woken).toEqual([`${old.runId} true`, `${ended} true`]);
    expect(noted).toEqual([session.id, session.id]);
    const away = search({
      openPage: () => Promise.resolve({ runIds: [old.runId, runId], next: undefined }),
      wake: () => Promise.reject(new Error('away')),
    });
    await away.find();
    expect(away.noted).toEqual([session.id]);
  });
});

it('a sweep looks into every shard', async () => {
  const { due, after } = open({ kind: 'idle' });
  const ofShard = new Map<number, string>();
  for (let n = 0; ofShard.size < DUE_SHARDS; n += 1)
    ofShard.set(dueShardOf(`s${String(n)}`), `s${String(n)}`);
  const ids = [...ofShard.values()].sort();
  for (const id of ids) await due.note(id, 0);
  expect((await after(SECOND)).sort()).toEqual(ids);
});

it('a session at rest is looked at once more, and then no more', async () => {
  const { due, after } = open({ kind: 'idle' });
  await due.note('s1', 0);
  expect(await after(SECOND)).toEqual(['s1']);
  expect(await after(10 * SECOND)).toEqual(['s1']);
  expect(await after(2 * HOUR)).toEqual([]);
});

it('what is urgent is found at once beside thousands that wait for people', async () => {
  const { due, after } = open({ kind: 'waiting', untilDeadlineMs: Infinity });
  for (let n = 0; n < 2_000; n += 1) {
    const sessionId = `crowd-${String(n)}`;
    await due.note(sessionId, 0);
    const [taken] = await due.take(dueShardOf(sessionId), { urgent: 1, routine: 0 }, 0);
    if (taken !== undefined) await due.put(taken, 'routine', 0);
  }
  await due.note('urgent', 0);
  const looked = await after(SECOND);
  expect(looked).toContain('urgent');
  expect(looked.length).toBeLessThanOrEqual(2 * DUE_SHARDS + 1);
});

it.each<[string, SweptSession, waits: number[]]>([
  [
    'at work: after the time that the look names',
    { kind: 'active', againMs: 7 * SECOND },
    [7 * SECOND, 7 * SECOND],
  ],
  [
    'waiting: once more, and when its deadline is over',
    { kind: 'waiting', untilDeadlineMs: 5 * MINUTE },
    [10 * SECOND, 5 * MINUTE + SECOND],
  ],
  [
    'waiting for long: once more, and within the hour',
    { kind: 'waiting', untilDeadlineMs: 500 * HOUR },
    [10 * SECOND, HOUR],
  ],
])('a session is looked at again, %s', async (_, found, waits) => {
  const { due, after } = open(found);
  await due.note('s1', 0);
  expect(await after(SECOND)).toEqual(['s1']);
  for (const ms of waits) {
    // The sweep spreads its looks over a tenth of the hour.
    const early = ms === HOUR ? 0.15 * HOUR : 2 * SECOND;
    expect(await after(ms - early)).toEqual([]);
    expect(await after(early)).toEqual(['s1']);
  }
});
