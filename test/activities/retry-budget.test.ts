import fc from 'fast-check';
import { nextWait } from '../../activities/model/fallback.js';

const most = (): number => 1;
const least = (): number => 0;
const TEN_MINUTES = 10 * 60_000;

describe('the budget of tries', () => {
  it('the budget of tries doubles its waits up to half a minute, by half at random', () => {
    const waits = [1, 2, 3, 4, 8, 20].map((failures) => {
      const failing = { failures, forMs: 0 };
      return [nextWait(failing, undefined, {}, least), nextWait(failing, undefined, {}, most)];
    });
    expect(waits).toEqual([
      [125, 250],
      [250, 500],
      [500, 1_000],
      [1_000, 2_000],
      [15_000, 30_000],
      [15_000, 30_000],
    ]);
  });

  it('the budget of tries lasts through an outage of ten minutes, with a try behind its end, and no longer', () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (randoms) => {
        const random = (): number => randoms.next().value as number;
        let forMs = 0;
        let failures = 1;
        for (;;) {
          const wait = nextWait({ failures, forMs }, undefined, {}, random);
          if (wait === undefined) break;
          forMs += wait;
          failures += 1;
        }
        expect(forMs).toBeGreaterThanOrEqual(TEN_MINUTES);
        expect(forMs).toBeLessThanOrEqual(TEN_MINUTES + 2_000);
        expect(failures).toBeLessThan(60);
      }),
    );
  });

  it('the budget of tries waits as long as the provider demands, unless that is too long', () => {
    const failing = { failures: 1, forMs: 0 };
    expect(nextWait(failing, 50, {}, least)).toBe(50);
    expect(nextWait(failing, 50, {}, most)).toBe(55);
    expect(nextWait(failing, 300_000, {}, most)).toBe(302_000);
    expect(nextWait(failing, TEN_MINUTES + 1, {})).toBeUndefined();
    expect(nextWait({ failures: 1, forMs: 400_000 }, 300_000, {})).toBeUndefined();
  });

  it('the agent sets the budget of tries', () => {
    expect(nextWait({ failures: 5, forMs: 0 }, undefined, { maxTries: 5 })).toBeUndefined();
    expect(nextWait({ failures: 4, forMs: 0 }, undefined, { maxTries: 5 })).toBeGreaterThan(0);
    expect(nextWait({ failures: 1, forMs: 0 }, undefined, { retryForMs: 0 })).toBeUndefined();
    expect(nextWait({ failures: 9, forMs: 50 }, undefined, { retryForMs: 60 }, least)).toBe(10);
  });
});
