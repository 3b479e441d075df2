import { toQuotas } from '../../../executor/quotas.js';
import { openStores } from '../../support/open-stores.js';
import { newSessionId } from '../../support/session-driver.js';
import { sharedRedisUrl } from '../../support/test-stores.js';
import { until } from '../../support/until.js';
import { startChild } from './child.js';

const HELD_MS = 3_000;
const PATIENCE_MS = 20_000;

/** An API process that rests in the middle of a message, and what its user may still do. */
async function openScene(restBefore: 'begin' | 'fold') {
  const url = sharedRedisUrl();
  const { store } = await openStores(url);
  const id = newSessionId();
  const whose = { owner: `owner-${id}`, tenant: `tenant-${id}` };
  const input = { url, sessionId: id, ...whose, restBefore, forMs: HELD_MS };
  const child = startChild<{ did: string }>('reserver.mjs', input);
  await child.sends('that it rests', ({ did }) => did === 'rest');
  const reserve = (runs: number) =>
    store.owners.reserve({
      ...whose,
      sessionId: newSessionId(),
      purpose: 'run',
      bytes: 0,
      forMs: 1,
      limits: toQuotas({ runs }, 1),
    });
  return {
    id,
    store,
    child,
    usage: () => store.owners.usage(whose),
    another: () => reserve(1),
    refused: () => reserve(0),
  };
}

describe('processes that die between what they reserve, begin and charge', () => {
  it('what was reserved by a process that is killed before it begins is free again', async () => {
    const { id, store, child, usage, another, refused } = await openScene('begin');
    try {
      expect(await another()).toMatchObject({ kind: 'exceeded', what: 'runs' });
      await child.kill9();
      expect(await usage()).toMatchObject({ runs: 1, sessions: 1 });
      await until('it lapses', async () => (await another()).kind === 'reserved', PATIENCE_MS);
      // Nothing of the dead one is left, nor of those that asked.
      await until(
        'all is free',
        async () => {
          // A request that gets nothing clears away what has lapsed.
          await refused();
          return (await usage()).sessions === 0;
        },
        PATIENCE_MS,
      );
      expect(await usage()).toEqual({ runs: 0, queued: 0, sessions: 0, bytes: 0 });
      expect(await store.sessions.read(id)).toBeUndefined();
    } finally {
      await child.kill9();
    }
  });

  it('a run whose process is killed before it is charged counts once', async () => {
    const { id, store, child, usage, another } = await openScene('fold');
    try {
      await child.kill9();
      expect(await usage()).toMatchObject({ runs: 1, sessions: 1 });
      // As the worker does after its first step, or the sweeper.
      await Promise.all([store.owners.fold(id), store.owners.fold(id)]);
      const charged = await usage();
      expect(charged).toMatchObject({ runs: 1, sessions: 1 });
      expect(charged.bytes).toBeGreaterThan(1_000);
      expect(charged.bytes).toBeLessThan(2_000);
      expect(await another()).toMatchObject({ kind: 'exceeded', what: 'runs' });
    } finally {
      await child.kill9();
    }
  });
});
