import { equal } from '../assertions.js';
import { newNonce } from '../fixtures.js';
import type { Suite } from '../suite.js';

const LONG = 60_000;

export function requestCases({ describe, it }: Suite): void {
  describe('requests that name themselves', () => {
    it('a request is claimed once, and its reply is kept until it is forgotten', async ({
      store,
    }) => {
      const { requests } = store;
      if (requests === undefined) return;
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
  });
}
