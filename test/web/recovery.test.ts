import { describe, expect, it, jest } from '@jest/globals';
import { Recovery } from '../../web/src/recovery.js';
import { deferred } from './deferred.js';

interface Rig {
  recovery: Recovery;
  waits: number[];
  changes: boolean[];
  clock: { now: number };
  ended: Promise<void>;
}

type Try = (recovery: Recovery) => Promise<void> | void;

/** A recovery whose waits end at once and whose tries run the given steps, in order. */
function rig(tries: Try[]): Rig {
  const waits: number[] = [];
  const changes: boolean[] = [];
  const clock = { now: 0 };
  const end = deferred();
  const recovery = new Recovery({
    pause: async (ms) => {
      waits.push(ms);
    },
    catchUp: async () => {
      await tries.shift()?.(recovery);
    },
    onChange: (running) => {
      changes.push(running);
      if (!running) end.resolve();
    },
    now: () => clock.now,
  });
  return { recovery, waits, changes, clock, ended: end.promise };
}

const here = (): void => undefined;
const away = (): never => {
  throw new TypeError('Failed to fetch');
};

describe('Recovery', () => {
  it('continues, ever more slowly, until the server answers', async () => {
    const { recovery, waits, changes, ended } = rig([away, away, away, away, away, away, here]);
    recovery.start();
    await ended;
    expect(changes).toEqual([true, false]);
    expect(waits).toHaveLength(7);
    expect(waits[0]).toBeLessThanOrEqual(250);
    expect(waits.slice(0, 5)).toEqual([...waits.slice(0, 5)].sort((a, b) => a - b));
    expect(waits.at(-1)).toBe(3000);
  });

  it('is one loop, however often it is asked for', async () => {
    const once = jest.fn<() => void>();
    const { recovery, changes, ended } = rig([once, once, once]);
    recovery.start();
    recovery.start();
    recovery.start();
    await ended;
    expect(once).toHaveBeenCalledTimes(1);
    expect(changes).toEqual([true, false]);
  });

  it('takes another round if the response breaks again', async () => {
    const second = jest.fn<() => void>();
    const { recovery, waits, ended } = rig([
      (self) => {
        self.start();
      },
      second,
    ]);
    recovery.start();
    await ended;
    expect(second).toHaveBeenCalledTimes(1);
    expect(waits).toHaveLength(2);
  });

  it('begins with a short wait again once a response was whole, or things were calm', async () => {
    const first = rig([
      away,
      away,
      (self) => {
        self.settled();
      },
    ]);
    first.recovery.start();
    await first.ended;
    first.recovery.start();
    expect(first.waits.at(-1)).toBeLessThanOrEqual(250);

    const later = rig([
      away,
      away,
      () => {
        later.clock.now += 60_000;
        later.recovery.start();
      },
    ]);
    later.recovery.start();
    await later.ended;
    expect(later.waits).toHaveLength(4);
    expect(later.waits.at(-1)).toBeLessThanOrEqual(250);
  });

  it('ends when the page goes away', async () => {
    const { recovery, waits, changes, ended } = rig([
      () => {
        recovery.stop();
        away();
      },
    ]);
    recovery.start();
    await ended;
    expect(waits).toHaveLength(1);
    expect(changes).toEqual([true, false]);
  });
});
