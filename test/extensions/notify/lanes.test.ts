import type { NotDelivered } from '../../../extensions/notify/post.js';
import { createLane, type LaneLimits, type Waiting } from '../../../extensions/notify/lanes.js';

const SLACK: LaneLimits = { atOnce: 1, waiting: 20, paceMs: 1_000, joins: true, perHour: 60 };
const HOOK: LaneLimits = { ...SLACK, atOnce: 4, waiting: 16, paceMs: 20, joins: false };
const HOOK_OF_ONE: LaneLimits = { ...HOOK, atOnce: 1, paceMs: 1_000 };
const HOUR_MS = 3_600_000;

interface Asked extends Waiting {
  at: number;
}

const ask = (tenant: string, owner: string, at: number, kind = 'approval.requested'): Asked => ({
  tenant,
  owner,
  kind,
  at,
});

beforeEach(() => void jest.useFakeTimers());

/** Returns what a receiver gets and when, at 300 ms an attempt; what it sends back comes again. */
async function play(
  asked: readonly Asked[],
  limits: LaneLimits,
): Promise<{ at: number; sent: Asked[] }[]> {
  const start = Date.now();
  const log: { at: number; sent: Asked[] }[] = [];
  const lane = createLane<Asked>(limits, async (sent) => {
    log.push({ at: Date.now() - start, sent });
    await new Promise<void>((resolve) => setTimeout(resolve, 300));
    return [];
  });
  const send = (each: Asked): void => {
    lane(each, each).catch((error: unknown) => {
      const { retryAfterMs = 0 } = error as NotDelivered;
      setTimeout(send, retryAfterMs, each);
    });
  };
  for (const each of asked) setTimeout(send, each.at, each);
  await jest.advanceTimersByTimeAsync(10 * HOUR_MS);
  return log;
}

type Played = Awaited<ReturnType<typeof play>>;

const waitOf = (log: Played, asked: Asked): number =>
  (log.find(({ sent }) => sent.includes(asked))?.at ?? Infinity) - asked.at;

describe.each([
  ['a channel', SLACK],
  ['a program', HOOK],
])('300 questions of one person to %s', (_, limits) => {
  it('delay the notice of another tenant, and of a colleague, by no more than 3 s', async () => {
    const flood = Array.from({ length: 300 }, (__, n) => ask('t1', 'eve', n));
    const bob = ask('t2', 'bob', 500);
    const ann = ask('t1', 'ann', 600);
    const log = await play([...flood, bob, ann], limits);
    expect(waitOf(log, bob)).toBeLessThanOrEqual(3_000);
    expect(waitOf(log, ann)).toBeLessThanOrEqual(3_000);
    expect(log.flatMap(({ sent }) => sent)).toHaveLength(302);
  });

  it('of many people of one tenant delay another tenant no more', async () => {
    const flood = Array.from({ length: 300 }, (__, n) => ask('t1', `u${String(n)}`, n));
    const bob = ask('t2', 'bob', 1_500);
    expect(waitOf(await play([...flood, bob], limits), bob)).toBeLessThanOrEqual(3_000);
  });
});

it('attempts to one receiver keep their pace, also when none is active', async () => {
  const asked = [0, 0, 0, 1_700].map((at) => ask('t', 'ann', at));
  const log = await play(asked, { ...HOOK, paceMs: 500 });
  expect(log.map(({ at }) => at)).toEqual([0, 500, 1_000, 1_700]);
  const [ann, again] = [ask('t', 'ann', 0), ask('t', 'ann', 0)];
  const bob = ask('t', 'bob', 400);
  expect(await play([ann, again, bob], HOOK_OF_ONE)).toEqual([
    { at: 0, sent: [ann] },
    // Bob has waited for less time, and longer for a turn.
    { at: 1_000, sent: [bob] },
    { at: 2_000, sent: [again] },
  ]);
});

describe('for one person', () => {
  const counts = (log: Played) => log.map(({ at, sent }) => [at, sent.length]);

  it('the first question is sent at once, and those of the next minute as one', async () => {
    const asked = [0, 5_000, 10_000, 59_000, 61_000, 200_000].map((at) => ask('t', 'ann', at));
    expect(counts(await play(asked, SLACK))).toEqual([
      [0, 1],
      [60_300, 3],
      [120_600, 1],
      [200_000, 1],
    ]);
  });

  it('notices of different kinds are not joined', async () => {
    const asked = [0, 5_000].map((at) => ask('t', 'ann', at));
    const end = ask('t', 'ann', 10_000, 'run.failed');
    const log = await play([...asked, end], SLACK);
    expect(log.map(({ at, sent }) => [at, sent.map(({ kind }) => kind)])).toEqual([
      [0, ['approval.requested']],
      [10_000, ['run.failed']],
      [60_300, ['approval.requested']],
    ]);
  });

  it('notices of no one wait for no other', async () => {
    const asked = [0, 1].map((at) => ({ tenant: 't', kind: 'test', at }));
    expect(counts(await play(asked, SLACK))).toEqual([
      [0, 1],
      [1_000, 1],
    ]);
  });

  it('who has the name of another tenant’s person is another person', async () => {
    const asked = [ask('t', 'ann', 0), ask('u', 'ann', 5_000)];
    expect(counts(await play(asked, SLACK)).map(([at]) => at)).toEqual([0, 5_000]);
  });

  it('a program gets each for itself', async () => {
    const asked = [0, 1, 2].map((at) => ask('t', 'ann', at));
    expect(counts(await play(asked, HOOK)).map(([, count]) => count)).toEqual([1, 1, 1]);
  });

  it('what exceeds the number of an hour waits, and is joined', async () => {
    const asked = Array.from({ length: 30 }, (_, n) => ask('t', 'ann', n * 120_000));
    const log = await play(asked, { ...SLACK, perHour: 5 });
    expect(counts(log).slice(0, 6)).toEqual([
      ...[0, 120_000, 240_000, 360_000, 480_000].map((at) => [at, 1]),
      [HOUR_MS + 300, 20],
    ]);
  });
});

describe('a lane', () => {
  function openLane(limits: Partial<LaneLimits>) {
    const sent: string[][] = [];
    const lane = createLane<string>({ ...SLACK, paceMs: 0, ...limits }, async (items) => {
      sent.push(items);
      return items.map((item) => (item === 'faulty' ? new Error('faulty') : undefined));
    });
    const send = (item: string, owner: string, signal?: AbortSignal): Promise<void> =>
      lane(item, { tenant: 't', owner, kind: 'approval.requested' }, signal);
    return { sent, send };
  }

  it('sends what goes together as one, and ends each for itself', async () => {
    const { sent, send } = openLane({});
    await send('a', 'ann');
    const later = Promise.allSettled(['b', 'faulty', 'c'].map((item) => send(item, 'ann')));
    const over = new AbortController();
    const stopped = send('d', 'ann', over.signal);
    over.abort(new Error('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
    await send('e', 'bob');
    await jest.advanceTimersByTimeAsync(59_000);
    expect(sent).toEqual([['a'], ['e']]);
    await jest.advanceTimersByTimeAsync(10 * HOUR_MS);
    expect((await later).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(sent).toEqual([['a'], ['e'], ['b', 'faulty', 'c']]);
  });

  it('that is full takes a notice of an owner with fewer, and sends the newest of the most back', async () => {
    const { send } = openLane({ waiting: 60, paceMs: HOUR_MS, joins: false });
    const back: string[] = [];
    const fill = (owner: string, count: number): void => {
      for (let n = 0; n < count; n += 1) {
        send(owner, owner).catch(() => back.push(`${owner} ${String(n)}`));
      }
    };
    // One of them is under way.
    fill('eve', 22);
    fill('ann', 20);
    fill('bob', 19);
    await jest.advanceTimersByTimeAsync(0);
    expect(back).toEqual([]);
    fill('ann', 1);
    fill('bob', 1);
    await jest.advanceTimersByTimeAsync(0);
    expect(back).toEqual(['ann 0', 'eve 21']);
  });

  it('sends those of one owner back of whom too many wait, and takes those of others', async () => {
    const { send, sent } = openLane({ waiting: 2 });
    await send('a', 'ann');
    void send('b', 'ann');
    void send('c', 'ann');
    await expect(send('d', 'ann')).rejects.toMatchObject({ code: 'busy', isFinal: false });
    await send('e', 'bob');
    expect(sent).toEqual([['a'], ['e']]);
  });

  it('makes room for others while many wait, and sends back those of whoever has most', async () => {
    const { send, sent } = openLane({ atOnce: 0, joins: false, waiting: 40 });
    const back: string[] = [];
    for (let n = 0; n < 40; n += 1) send('a', 'ann').catch(() => back.push('ann'));
    for (let n = 0; n < 25; n += 1) send('b', `b${String(n)}`).catch(() => back.push('others'));
    await Promise.resolve();
    expect(back).toEqual(Array.from({ length: 5 }, () => 'ann'));
    expect(sent).toEqual([]);
  });

  it('goes on with what waits when the one under way is given up', async () => {
    const { send, sent } = openLane({ joins: false });
    const over = new AbortController();
    const both = [send('a', 'ann', over.signal), send('b', 'ann')];
    over.abort();
    await Promise.all(both);
    expect(sent).toEqual([['a'], ['b']]);
  });

  it('tries again soon what was not taken', async () => {
    let isAway = true;
    const lane = createLane<string>({ ...SLACK, paceMs: 0 }, async () => {
      if (isAway) throw new Error('away');
      return [];
    });
    const whose = { tenant: 't', owner: 'ann', kind: 'k' };
    await expect(lane('a', whose)).rejects.toThrow('away');
    isAway = false;
    await lane('a', whose);
  });
});
