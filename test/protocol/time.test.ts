import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { endsWithin, retryDelay, sleep, withTimeout } from '../../protocol/time.js';

const never = new Promise<never>(() => undefined);

it('a sleep ends early when its signal fires, and at once when it has fired before', async () => {
  const leaving = new AbortController();
  const sleeping = sleep(60_000, leaving.signal);
  leaving.abort(new Error('left'));
  await expect(sleeping).resolves.toBeUndefined();
  await expect(sleep(60_000, leaving.signal)).resolves.toBeUndefined();
  await expect(sleep(1)).resolves.toBeUndefined();
});

it('work within its time returns its own result or error', async () => {
  await expect(withTimeout(60_000, Promise.resolve(1))).resolves.toBe(1);
  await expect(withTimeout(60_000, Promise.reject(new Error('refused')))).rejects.toThrow(
    'refused',
  );
});

it('work beyond its time fails with the error that the caller names', async () => {
  await expect(withTimeout(1, never)).rejects.toThrow('no answer within 1 ms');
  await expect(withTimeout(1, never, { late: () => new TypeError('silent') })).rejects.toThrow(
    new TypeError('silent'),
  );
});

it('work that is waited for no longer fails with the signal’s reason', async () => {
  const leaving = new AbortController();
  const { signal } = leaving;
  const waiting = withTimeout(60_000, never, { signal });
  leaving.abort(new Error('left'));
  await expect(waiting).rejects.toThrow('left');
  await expect(withTimeout(60_000, never, { signal })).rejects.toThrow('left');
});

it('work that has ended leaves nothing at the signal', async () => {
  const { signal } = new AbortController();
  await withTimeout(60_000, Promise.resolve(1), { signal });
  await sleep(1, signal);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

const delays = fc.record({
  firstMs: fc.integer({ min: 1, max: 10_000 }),
  mostMs: fc.integer({ min: 10_000, max: 1_000_000 }),
  factor: fc.double({ min: 1, max: 10, noNaN: true }),
  jitter: fc.double({ min: 0, max: 1, noNaN: true }),
});

it('a retry delay begins with the first one and grows up to the longest, whatever the number of tries', () => {
  fc.assert(
    fc.property(delays, fc.integer({ min: 1, max: 100_000 }), (of, attempt) => {
      const delay = (number: number): number => retryDelay({ ...of, jitter: 0, attempt: number });
      expect(delay(1)).toBe(of.firstMs);
      expect(delay(attempt)).toBeLessThanOrEqual(of.mostMs);
      expect(delay(attempt + 1)).toBeGreaterThanOrEqual(delay(attempt));
      const grown = Math.min(delay(attempt) * of.factor, of.mostMs);
      expect(Math.abs(delay(attempt + 1) - grown)).toBeLessThanOrEqual(of.factor);
      expect(Number.isInteger(delay(attempt))).toBe(true);
    }),
  );
});

it('a retry delay leaves the given share to chance, and no more', () => {
  const chance = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(delays, fc.integer({ min: 1, max: 50 }), chance, (of, attempt, drawn) => {
      const random = (): number => drawn;
      const whole = retryDelay({ ...of, attempt, jitter: 0 });
      const spread = retryDelay({ ...of, attempt, random });
      expect(spread).toBeGreaterThanOrEqual(Math.floor(whole * (1 - of.jitter)) - 1);
      expect(spread).toBeLessThanOrEqual(whole);
      expect(retryDelay({ ...of, attempt, random: () => 1 })).toBe(whole);
      const shortest = retryDelay({ ...of, attempt, random: () => 0 });
      expect(Math.abs(shortest - whole * (1 - of.jitter))).toBeLessThanOrEqual(1);
    }),
  );
});

describe('a time limit within other signals', () => {
  const heard = (signal: AbortSignal) =>
    new Promise((resolve) => {
      const hear = ({ target }: Event): void => {
        resolve((target as AbortSignal).reason);
      };
      signal.addEventListener('abort', hear, { once: true });
    });

  it('fires also if nothing but its listener is left of it', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const late = heard(endsWithin(100, new AbortController().signal));
    await new Promise(setImmediate);
    collect();
    expect(await late).toMatchObject({ name: 'TimeoutError' });
  });

  it('fires with the first of them, for its reason', async () => {
    const other = new AbortController();
    const cut = heard(endsWithin(60_000, new AbortController().signal, other.signal));
    other.abort('cut');
    expect(await cut).toBe('cut');
  });
});
