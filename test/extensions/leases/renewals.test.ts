import type { HeldWork } from '../../../store/contract/leases.js';
import {
  createRenewals,
  readPulse,
  startPulse,
  type RenewalReport,
  type Suspect,
} from '../../../extensions/leases/renewals.js';
import { inSequence } from '../../../extensions/leases/start-renewing.js';
import { TIMES } from '../../../protocol/limits.js';

/** Opens a worker on the test's clock and engine. */
function openWorker() {
  const world = {
    now: 0,
    ticks: 0,
    unansweredMs: 0,
    isRunning: true,
    /** Reply time of Redis, ms; undefined if Redis is away. */
    delayMs: 1 as number | undefined,
    judged: new Set<string>(),
    renewed: [] as string[],
    reports: [] as RenewalReport[],
    hung: [] as string[],
    suspect: undefined as Suspect | undefined,
    work: new Map<string, HeldWork>(),
  };
  const { turn } = createRenewals({
    id: 'w',
    times: TIMES,
    now: () => world.now,
    pulse: {
      ticks: () => world.ticks,
      unansweredMs: () => world.unansweredMs,
      isRunning: () => world.isRunning,
      suspect: () => world.suspect,
    },
    onReport: (report) => world.reports.push(report),
    onHung: (suspect) => world.hung.push(suspect?.toolName ?? 'nothing'),
    leases: {
      work: () => Promise.resolve([...world.work.values()]),
      hold: (_, work) => Promise.resolve(void world.work.set(work.id, work)),
      renew: async (holder) => {
        await Promise.resolve();
        if (world.delayMs === undefined) throw new Error('away');
        world.now += world.delayMs;
        world.renewed.push(holder);
        return { isOver: world.judged.has(holder), stops: [] };
      },
    },
  });
  /** Advances by turns of the usual length; without ticks the main thread stands still. */
  const turns = async (count: number, ticks = 1): Promise<void> => {
    for (let n = 0; n < count; n += 1) {
      world.now += TIMES.renewMs;
      world.ticks += ticks;
      await turn();
    }
  };
  return { world, turns };
}

describe('renewals of a lease', () => {
  it('are steady from the first one on', async () => {
    const { world, turns } = openWorker();
    await turns(10);
    expect(world.renewed).toHaveLength(10);
    expect(world.reports.at(-1)).toEqual({
      holder: 'w',
      sentAt: 4_009,
      steadySince: 400,
      stops: [],
    });
  });

  it('are sent one after the other, however slowly Redis answers', async () => {
    const { world, turns } = openWorker();
    await Promise.all([turns(1), turns(1)]);
    expect(world.renewed).toHaveLength(1);
  });

  it('are steady again after a gap in which the lease could lapse', async () => {
    const { world, turns } = openWorker();
    await turns(3);
    world.delayMs = undefined;
    await turns(4);
    expect(world.reports.at(-1)?.steadySince).toBe(400);
    world.delayMs = 1;
    await turns(2);
    expect(world.reports.at(-1)?.steadySince).toBe(3_203);
  });

  it('a slow answer is a gap as well', async () => {
    const { world, turns } = openWorker();
    await turns(3);
    world.delayMs = TIMES.leaseMs;
    await turns(1);
    expect(world.reports.at(-1)?.steadySince).toBe(1_603);
  });

  it('end while the main thread stands still for five seconds, and then the process', async () => {
    const { world, turns } = openWorker();
    await turns(1);
    await turns(12, 0);
    expect(world.renewed).toHaveLength(13);
    await turns(12, 0);
    expect(world.renewed).toHaveLength(13);
    expect(world.hung).toEqual([]);
    await turns(1, 0);
    expect(world.hung).toEqual(['nothing']);
  });

  it('a tool that holds up the main thread is blamed before its attempt is taken over, and named', async () => {
    const { world, turns } = openWorker();
    const work = { taskToken: '', workflowId: '', runId: '', token: 1, number: 1 };
    for (const id of ['spins', 'other']) world.work.set(id, { id, ...work });
    await turns(1);
    world.suspect = { workId: 'spins', toolCallId: 'c1', toolName: 'spin' };
    await turns(12, 0);
    expect(world.work.get('spins')).not.toHaveProperty('blockedBy');
    await turns(1, 0);
    expect(world.work.get('spins')).toMatchObject({ id: 'spins', blockedBy: 'c1' });
    expect(world.work.get('other')).not.toHaveProperty('blockedBy');
    expect(world.hung).toEqual([]);
    // It is blamed once: another worker may have taken the attempt over since.
    world.work.set('spins', { id: 'spins', ...work });
    await turns(12, 0);
    expect(world.work.get('spins')).not.toHaveProperty('blockedBy');
    expect(world.hung).toEqual(['spin']);
  });

  it('a starved process that still loads its packages is not hung', async () => {
    const { world, turns } = openWorker();
    world.isRunning = false;
    await turns(100, 0);
    expect(world.hung).toEqual([]);
    world.isRunning = true;
    await turns(24, 0);
    expect(world.hung).toEqual([]);
    await turns(1, 0);
    expect(world.hung).toEqual(['nothing']);
  });

  it('a process that was stopped as a whole is not hung when it continues', async () => {
    const { world, turns } = openWorker();
    await turns(2);
    world.now += 60_000;
    await turns(1, 0);
    expect(world.hung).toEqual([]);
    expect(world.renewed).toHaveLength(3);
  });

  it('end while a write of the main thread waits for five seconds', async () => {
    const { world, turns } = openWorker();
    world.unansweredMs = 4_999;
    await turns(1);
    world.unansweredMs = 5_000;
    await turns(30);
    expect(world.renewed).toHaveLength(1);
    expect(world.hung).toEqual([]);
    world.unansweredMs = 0;
    await turns(1);
    expect(world.renewed).toHaveLength(2);
  });

  it('a worker that was judged while it lives continues under another name at once', async () => {
    const { world, turns } = openWorker();
    await turns(2);
    world.judged.add('w');
    await turns(1);
    expect(world.renewed.slice(2)).toEqual(['w', 'w.1']);
    // A worker that was judged has not been steady.
    expect(world.reports.at(-1)).toMatchObject({ holder: 'w.1', steadySince: 1_203 });
    await turns(1);
    expect(world.renewed.at(-1)).toBe('w.1');
  });
});

const callOf = (toolName: string) => ({ workId: `w-${toolName}`, toolCallId: 'c', toolName });

it('the pulse names the tool that began since the last tick, or is alone, and no other', () => {
  jest.useFakeTimers();
  const pulse = startPulse(() => 0);
  const suspect = (): string | undefined => readPulse(pulse.shared).suspect()?.toolName;
  expect(suspect()).toBeUndefined();
  const endFirst = pulse.executing(callOf('first'));
  jest.advanceTimersByTime(1_000);
  expect(suspect()).toBe('first');
  const endSecond = pulse.executing(callOf('second'));
  expect(suspect()).toBe('second');
  jest.advanceTimersByTime(1_000);
  // Either call may block the thread by now.
  expect(suspect()).toBeUndefined();
  endFirst();
  expect(suspect()).toBe('second');
  endSecond();
  expect(suspect()).toBeUndefined();
  pulse.executing(callOf('x'.repeat(5_000)));
  expect(suspect()).toBeUndefined();
  pulse.stop();
});

const report = (sentAt: number, steadySince = sentAt) => ({
  holder: 'w',
  sentAt,
  steadySince,
  stops: [],
});

/** Joins the reports of two sources; the second begins to report at `secondAt`. */
function join(secondAt: number) {
  let now = 0;
  const since: number[] = [];
  const next = inSequence(
    ({ steadySince }) => since.push(steadySince),
    1_500,
    () => now,
  );
  const [first, second] = [next(), next()];
  now = 500;
  first(report(100));
  first(report(500, 100));
  now = secondAt;
  second(report(now));
  second(report(now + 400, now));
  // The second source has a gap of its own.
  second(report(now + 5_000));
  return { since, secondAt };
}

it('a source that follows another one without a gap has renewed since the first did', () =>
  expect(join(1_900).since).toEqual([100, 100, 100, 100, 6_900]));

it('after a gap between two sources renewals count from its end', () =>
  expect(join(2_000).since).toEqual([100, 100, 2_000, 2_000, 7_000]));
