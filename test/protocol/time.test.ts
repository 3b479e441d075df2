import { expect, it } from '@jest/globals';
import { sleep, withTimeout } from '../../protocol/time.js';

const never = new Promise<never>(() => undefined);

it('a sleep ends early when its signal fires, and at once when it has fired before', async () => {
  const leaving = new AbortController();
  const sleeping = sleep(60_000, leaving.signal);
  leaving.abort(new Error('left'));
  await expect(sleeping).resolves.toBeUndefined();
  await expect(sleep(60_000, leaving.signal)).resolves.toBeUndefined();
  await expect(sleep(1)).resolves.toBeUndefined();
});

it('work within its time gives its own result or error', async () => {
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
