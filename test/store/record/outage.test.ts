import { HelixError } from '../../../protocol/errors.js';
import { retryWhileUnavailable } from '../../../store/record/outage.js';

const away = new HelixError('unavailable', 'away');

describe('a store that cannot be reached', () => {
  it('is asked again until its time is over, and not once more behind that', async () => {
    const started = Date.now();
    let tries = 0;
    const work = (): Promise<never> => {
      tries += 1;
      return Promise.reject(away);
    };
    await expect(retryWhileUnavailable(work, new AbortController().signal, 200)).rejects.toBe(away);
    expect(tries).toBeGreaterThan(1);
    expect(Date.now() - started).toBeLessThan(1_000);
  });

  it('fails work that hangs, at the end of that time', async () => {
    const hangs = (): Promise<never> => new Promise(() => undefined);
    const asked = retryWhileUnavailable(hangs, new AbortController().signal, 20);
    await expect(asked).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is not asked again once the caller has gone', async () => {
    const gone = new AbortController();
    let tries = 0;
    const work = (): Promise<number> => {
      tries += 1;
      setTimeout(() => {
        gone.abort(new Error('gone'));
      }, 1);
      return tries === 1 ? Promise.reject(away) : Promise.resolve(tries);
    };
    await expect(retryWhileUnavailable(work, gone.signal)).rejects.toThrow('gone');
    expect(tries).toBe(1);
  });
});
