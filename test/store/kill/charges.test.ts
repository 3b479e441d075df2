import { newSessionId } from '../../support/session-driver.js';
import { openStores, sharedRedisUrl } from '../../support/test-stores.js';
import { startChild } from './child.js';

/** Kills an API process in the middle of a message; returns what its user is charged. */
async function killBefore(restBefore: 'begin' | 'fold') {
  const url = sharedRedisUrl();
  const { store } = await openStores(url);
  const id = newSessionId();
  const whose = { owner: `owner-${id}`, tenant: `tenant-${id}` };
  const child = startChild<{ did: string }>('charger.mjs', {
    url,
    sessionId: id,
    ...whose,
    restBefore,
  });
  await child.sends('that it rests', ({ did }) => did === 'rest');
  await child.kill9();
  return { id, store, usage: () => store.owners.usage(whose) };
}

describe('processes that die between what they admit, begin and charge', () => {
  it('a process that is killed before it begins leaves nothing', async () => {
    const { id, store, usage } = await killBefore('begin');
    expect(await usage()).toEqual({ runs: 0, queued: 0, sessions: 0, bytes: 0 });
    expect(await store.sessions.read(id)).toBeUndefined();
  });

  it('a run whose process is killed before it is charged counts once', async () => {
    const { id, store, usage } = await killBefore('fold');
    // Folding is repeated by the worker after its first step and by the sweeper.
    await Promise.all([store.owners.fold(id), store.owners.fold(id)]);
    const charged = await usage();
    expect(charged).toMatchObject({ runs: 1, sessions: 1 });
    expect(charged.bytes).toBeGreaterThan(1_000);
    expect(charged.bytes).toBeLessThan(2_000);
  });
});
