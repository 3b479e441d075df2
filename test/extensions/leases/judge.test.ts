import type { HeldWork } from '../../../store/contract/leases.js';
import { createMemoryData, createStoresOn } from '../../../store/memory/index.js';
import type { RunEvent } from '../../../protocol/telemetry.js';
import { createJudge, judgeLease, see, type Sighting } from '../../../extensions/leases/judge.js';
import type { TakeOver } from '../../../worker/index.js';
import { TIMES } from '../../../protocol/limits.js';

const workOf = (id: string, isPatient?: true): HeldWork => ({
  id,
  taskToken: id,
  workflowId: `run:${id}`,
  runId: id,
  token: 1,
  number: 1,
  ...(isPatient && { isPatient }),
});

/** Opens leases on the test's clock, and judges that have been steady from the beginning. */
function openWorld() {
  const clock = { now: 1_000 };
  const data = createMemoryData({ now: () => clock.now });
  const leases = createStoresOn(data).store.leases?.of('n');
  if (leases === undefined) throw new Error('the store in memory has leases');
  const taken: string[] = [];
  const counted: RunEvent['kind'][] = [];
  const openJudge = (
    name: string,
    takeOver: TakeOver = async ({ id }) => {
      taken.push(`${name} takes ${id}`);
    },
    steadySince: () => number | undefined = () => 0,
  ): (() => Promise<number>) => {
    const look = createJudge({
      leases,
      own: { holder: () => name, isOwn: (other) => other === name, steadySince },
      times: TIMES,
      now: () => clock.now,
      meter: ({ kind }) => void counted.push(kind),
      logger: { info: () => undefined, warn: () => undefined },
    });
    return () => look(takeOver);
  };
  /** Lets a worker die with this work while these judges look. */
  const die = async (
    holder: string,
    work: HeldWork[],
    ...judges: (() => Promise<number>)[]
  ): Promise<void> => {
    await leases.renew(holder, TIMES.leaseMs);
    for (const one of work) await leases.hold(holder, one);
    for (let looks = 0; looks < 3; looks += 1) {
      for (const look of judges) await look();
      clock.now += TIMES.leaseMs / 3;
    }
  };
  const deaths = (): number => counted.filter((kind) => kind === 'lease_judged').length;
  return { clock, leases, taken, deaths, openJudge, die };
}

describe('the judge of leases', () => {
  it('takes over what a dead worker held, once, and forgets the worker', async () => {
    const { clock, leases, taken, openJudge, die } = openWorld();
    const look = openJudge('j');
    await die('w', [workOf('a'), workOf('b'), workOf('p', true)], look);
    expect(await look()).toBe(TIMES.graceMs);
    expect(taken).toEqual([]);
    clock.now += TIMES.graceMs;
    await look();
    expect(taken).toEqual(['j takes a', 'j takes b']);
    await look();
    expect(taken).toHaveLength(2);
    // A call that may not be repeated waits, since its worker may live.
    clock.now += TIMES.patientMs;
    for (let looks = 0; looks < 2; looks += 1) await look();
    expect(taken.slice(2)).toEqual(['j takes p']);
    expect(await leases.holders()).toEqual([]);
  });

  it('notes that a worker has died, also if nothing was registered', async () => {
    const { clock, leases, openJudge, die } = openWorld();
    const look = openJudge('j');
    for (const work of [[workOf('a')], []]) {
      await die(`w${String(work.length)}`, work, look);
      expect(await leases.hasDeath()).toBe(false);
      clock.now += TIMES.graceMs;
      await look();
      expect(await leases.hasDeath()).toBe(true);
      await look();
      clock.now += 20_000;
    }
  });

  it('counts each dead worker once, however often it is judged, and none that leaves', async () => {
    const { clock, leases, deaths, openJudge, die } = openWorld();
    let isAway = true;
    const takeOver: TakeOver = () =>
      isAway ? Promise.reject(new Error('away')) : Promise.resolve();
    const judges = [openJudge('j', takeOver), openJudge('k', takeOver)];
    const lookFor = async (ms: number): Promise<void> => {
      clock.now += ms;
      for (const look of judges) await look();
    };
    await die('w', [workOf('a'), workOf('b', true)], ...judges);
    for (let round = 0; round < 10; round += 1) await lookFor(TIMES.renewMs);
    expect(deaths()).toBe(1);
    isAway = false;
    for (let round = 0; round < 30; round += 1) await lookFor(TIMES.renewMs);
    expect([await leases.holders(), deaths()]).toEqual([[], 1]);

    await die('idle', [], ...judges);
    await lookFor(TIMES.graceMs);
    expect([await leases.holders(), deaths()]).toEqual([[], 2]);

    await leases.renew('drained', TIMES.leaseMs);
    await leases.hold('drained', workOf('c'));
    await leases.end('drained');
    await lookFor(0);
    await lookFor(0);
    expect([await leases.holders(), deaths()]).toEqual([[], 2]);
  });

  it('does not judge a worker that has renewed while another one was taken over', async () => {
    const { clock, leases, taken, openJudge, die } = openWorld();
    const look = openJudge('j', async ({ id }) => {
      taken.push(id);
      await leases.renew('w2', TIMES.leaseMs);
    });
    await leases.hold('w2', workOf('b'));
    await leases.renew('w2', TIMES.leaseMs);
    await die('w1', [workOf('a')], look);
    clock.now += TIMES.graceMs;
    await look();
    expect(taken).toEqual(['a']);
    expect(await leases.work('w2')).toEqual([workOf('b')]);
  });

  it('looks again exactly when a lease could be judged', async () => {
    const { leases, openJudge } = openWorld();
    await leases.renew('w', 100);
    expect(await openJudge('j')()).toBe(400);
    await leases.renew('v', 1);
    expect(await openJudge('j')()).toBe(301);
  });

  it('leaves a worker that renews, and one in whose lapse it was not steady', async () => {
    const { clock, leases, taken, openJudge, die } = openWorld();
    const look = openJudge('j', undefined, () => undefined);
    await die('w', [workOf('a')], look);
    clock.now += 60_000;
    await look();
    await leases.renew('w', TIMES.leaseMs);
    await openJudge('k')();
    expect(taken).toEqual([]);
  });

  it('two judges do not take over the same attempts', async () => {
    const { clock, taken, openJudge, die } = openWorld();
    const [one, other] = [openJudge('j'), openJudge('k')];
    await die('w', [workOf('a'), workOf('b')], one, other);
    clock.now += TIMES.graceMs;
    await Promise.all([one(), other()]);
    expect(taken.map((each) => each.slice(-1)).sort()).toEqual(['a', 'b']);
  });

  it('another judge follows one that dies in the middle', async () => {
    const { clock, leases, taken, openJudge, die } = openWorld();
    const dies = openJudge('j', ({ id }) =>
      id === 'a' ? Promise.resolve() : new Promise<never>(() => undefined),
    );
    const follows = openJudge('k');
    await die('w', [workOf('a'), workOf('b')], dies, follows);
    clock.now += TIMES.graceMs;
    void dies();
    await new Promise((resolve) => setImmediate(resolve));
    await follows();
    expect(taken).toEqual([]);
    clock.now += 2_001;
    await follows();
    expect(taken).toEqual(['k takes b']);
    expect(await leases.work('w')).toEqual([]);
  });

  it('begins no take-over when its right to judge is about to end', async () => {
    const { clock, leases, taken, openJudge, die } = openWorld();
    const look = openJudge('j', async ({ id }) => {
      taken.push(id);
      clock.now += 1_501;
    });
    await die('w', [workOf('a'), workOf('b')], look);
    clock.now += TIMES.graceMs;
    await look();
    expect(taken).toEqual(['a']);
    expect(await leases.work('w')).toEqual([workOf('b')]);
  });

  it('what Temporal did not take stays registered', async () => {
    const { clock, leases, taken, openJudge, die } = openWorld();
    let isAway = true;
    const look = openJudge('j', async ({ id }) => {
      if (isAway) throw new Error('away');
      taken.push(id);
    });
    await die('w', [workOf('a')], look);
    clock.now += TIMES.graceMs;
    await look();
    expect(await leases.work('w')).toHaveLength(1);
    isAway = false;
    clock.now += 2_001;
    await look();
    expect(taken).toEqual(['a']);
  });

  it('a call that may not be repeated waits for ten seconds, and its worker is not judged', async () => {
    const { clock, leases, taken, openJudge, die } = openWorld();
    const look = openJudge('j');
    await die('w', [workOf('a', true)], look);
    clock.now += 5_000;
    await look();
    expect(taken).toEqual([]);
    expect(await leases.renew('w', 1)).toMatchObject({ isOver: false });
    await look();
    clock.now += 1;
    await look();
    clock.now += TIMES.patientMs;
    await look();
    expect(taken).toEqual(['j takes a']);
    expect(await leases.renew('w', 1)).toMatchObject({ isOver: true });
  });

  it('each dead worker of a large fleet has a living one that watches it', async () => {
    const { clock, leases, taken, openJudge } = openWorld();
    const names = Array.from({ length: 30 }, (_, n) => `w${String(n).padStart(2, '0')}`);
    const dead = new Set(names.filter((_, n) => n % 3 === 1 || (n >= 10 && n <= 20)));
    for (const name of names) await leases.renew(name, TIMES.leaseMs);
    for (const name of dead) await leases.hold(name, workOf(name));
    const looks = names.filter((name) => !dead.has(name)).map((name) => openJudge(name));
    const living = names.filter((name) => !dead.has(name));
    for (let round = 0; round < 16; round += 1) {
      for (const look of looks) await look();
      clock.now += TIMES.renewMs;
      for (const name of living) await leases.renew(name, TIMES.leaseMs);
    }
    expect(taken.map((each) => each.slice(-3)).sort()).toEqual([...dead].sort());
  });

  it('the work of a process that is known to have ended is taken over at once', async () => {
    const { leases, taken, openJudge } = openWorld();
    await leases.renew('w', TIMES.leaseMs);
    await leases.hold('w', workOf('a', true));
    await leases.end('w');
    await openJudge('j', undefined, () => undefined)();
    expect(taken).toEqual(['j takes a']);
  });
});

const heldFor = (leftMs: number) => ({ leftMs, isEnded: false });
const HELD = heldFor(1_500);
const LAPSED = { leftMs: 0, isEnded: false };

/** Returns the sighting after these looks. */
function after(...looks: [at: number, state: typeof HELD][]): Sighting {
  let sighting: Sighting | undefined;
  for (const [at, state] of looks) sighting = see(sighting, state, at);
  if (sighting === undefined) throw new Error('there was no look');
  return sighting;
}

describe('a lease that lapsed in sight of a steady judge', () => {
  // The last renewal was at 10,000, so the lease lapses at 11,500.
  const seen = after(
    [10_000, HELD],
    [10_600, heldFor(900)],
    [11_100, heldFor(400)],
    [11_600, LAPSED],
  );

  it('is judged 300 ms after it lapsed, except for calls that may not be repeated', () => {
    expect(judgeLease(seen, 0, 11_600)).toEqual({ takes: 'none', againMs: 200 });
    expect(judgeLease(seen, 0, 11_799).takes).toBe('none');
    expect(judgeLease(seen, 0, 11_800).takes).toBe('most');
    expect(judgeLease(seen, 0, 21_499).takes).toBe('most');
  });

  it('calls that may not be repeated are taken over after ten seconds', () =>
    expect(judgeLease(seen, 0, 21_500).takes).toBe('all'));

  it('is not judged while the judge cannot renew its own', () =>
    expect(judgeLease(seen, undefined, 60_000).takes).toBe('none'));

  it('a judge whose own renewals had a gap waits three seconds from its end', () => {
    expect(judgeLease(seen, 12_000, 14_999)).toEqual({ takes: 'none', againMs: 1 });
    expect(judgeLease(seen, 12_000, 15_000).takes).toBe('most');
    expect(judgeLease(seen, 12_000, 21_999).takes).toBe('most');
    expect(judgeLease(seen, 12_000, 22_000).takes).toBe('all');
  });
});

describe('a lease that a judge never saw held', () => {
  const found = after([5_000, LAPSED], [5_400, LAPSED]);

  it('is judged after it stayed lapsed for three seconds', () => {
    expect(judgeLease(found, 0, 7_999).takes).toBe('none');
    expect(judgeLease(found, 0, 8_000).takes).toBe('most');
  });

  it('is judged at once if its process is known to have ended', () => {
    const ended = after([5_000, { leftMs: 0, isEnded: true }]);
    expect(judgeLease(ended, undefined, 5_000)).toEqual({ takes: 'all' });
  });
});

describe('a lease that is renewed again', () => {
  it('is not judged, and its next lapse counts from its beginning', () => {
    const back = after([1_000, HELD], [3_000, LAPSED], [3_100, HELD]);
    expect(judgeLease(back, 0, 3_200).takes).toBe('none');
    const last = see(see(back, heldFor(700), 3_900), heldFor(100), 4_500);
    const again = see(last, LAPSED, 5_000);
    expect(again.lapsedAt).toBe(4_600);
    expect(judgeLease(again, 0, 4_899).takes).toBe('none');
    expect(judgeLease(again, 0, 5_000).takes).toBe('most');
  });

  it('counts as lapsed only since a look, if the one before was too long ago', () => {
    // The worker renewed in between, then stood still for a moment before the second look.
    const late = after([1_000, HELD], [21_000, LAPSED]);
    expect(judgeLease(late, 0, 21_000)).toEqual({ takes: 'none', againMs: TIMES.graceMs });
    expect(judgeLease(see(late, HELD, 21_100), 0, 21_100).takes).toBe('none');
    // Two lapsed looks in a row stay one lapse, however far apart they are.
    expect(judgeLease(see(late, LAPSED, 41_000), 0, 41_000).takes).toBe('all');
  });

  it('the next look comes when it could be judged', () =>
    expect(judgeLease(after([1_000, HELD]), 0, 1_000)).toEqual({
      takes: 'none',
      againMs: TIMES.leaseMs + TIMES.graceMs,
    }));
});
