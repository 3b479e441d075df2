import { equal, eventually } from '../assertions.js';
import { newNonce } from '../fixtures.js';
import type { Suite } from '../suite.js';

const LONG = 60_000;
const SHORT = 100;

export function requestCases({ describe, it }: Suite): void {
  describe('requests that name themselves', () => {
    it('a request is claimed once, and its reply is kept until it is forgotten', async (setup) => {
      const { store } = setup;
      const { requests } = store;
      const key = newNonce();
      const claims = await Promise.all([1, 2, 3].map(() => requests.claim(key, 'd1', LONG)));
      equal(claims.filter(({ kind }) => kind === 'new').length, 1);
      equal(await requests.claim(key, 'd2', LONG), {
        kind: 'known',
        digest: 'd1',
        reply: undefined,
      });
      await requests.settle(key, '{"ä":"\\u0000"}', LONG);
      equal(await requests.claim(key, 'd1', LONG), {
        kind: 'known',
        digest: 'd1',
        reply: '{"ä":"\\u0000"}',
      });
      await requests.drop(key);
      equal(await requests.claim(key, 'd2', LONG), { kind: 'new' });
      equal(await requests.claim(newNonce(), 'd1', LONG), { kind: 'new' });
    });

    it('a claim that is renewed lasts from then on; one that was dropped is not made again', async (setup) => {
      const { store } = setup;
      const { requests } = store;
      const [key, dropped] = [newNonce(), newNonce()];
      await requests.claim(key, 'd1', SHORT);
      await requests.renew(key, LONG);
      const renewedAt = Date.now();
      await eventually('the first claim would be over', () => Date.now() > renewedAt + 2 * SHORT);
      equal((await requests.claim(key, 'd1', LONG)).kind, 'known');
      await requests.claim(dropped, 'd1', LONG);
      await requests.drop(dropped);
      await requests.renew(dropped, LONG);
      equal((await requests.claim(dropped, 'd1', LONG)).kind, 'new');
    });
  });
}
