import { createKeySpace } from '../../../store/redis/keys.js';
import { createRedisStores } from '../../../store/redis/index.js';
import { addFile, createTestBucket } from '../../support/files-elsewhere.js';
import { drive, newSessionId } from '../../support/session-driver.js';
import { openTestStores, sharedRedisUrl } from '../../support/test-stores.js';

describe('bytes of files outside Redis', () => {
  it('the record keeps their names until the bytes are removed, whatever expires', async () => {
    const { redis } = await openTestStores();
    const bucket = createTestBucket();
    const stores = createRedisStores({ url: sharedRedisUrl(), files: bucket });
    try {
      const { store } = stores;
      const id = newSessionId();
      const { elsewhere, session } = createKeySpace();
      await addFile(store, id, 'ann');
      expect(await store.files.reclaim?.(id)).toBeGreaterThan(60_000);
      await redis.pexpire(session(id).files, 0);
      await drive(stores, id).begin({ owner: 'bob', tenant: '' });
      const own = await addFile(store, id, 'bob');
      bucket.isAway = true;
      await expect(store.files.reclaim?.(id)).rejects.toThrow('the bucket is away');
      expect(await redis.hlen(elsewhere(id))).toBe(2);
      bucket.isAway = false;
      await store.files.reclaim?.(id);
      expect(bucket.names()).toEqual([`${id}/${own.id}`]);
      // The upload might still be in progress.
      expect(await redis.hlen(elsewhere(id))).toBe(2);
      expect(await redis.pttl(elsewhere(id))).toBe(-1);
    } finally {
      await stores.close();
    }
  });

  it('bytes in Redis need no note', async () => {
    const { redis, store } = await openTestStores();
    const id = newSessionId();
    await addFile(store, id, 'ann');
    expect(await redis.exists(createKeySpace().elsewhere(id))).toBe(0);
    expect(store.files.reclaim).toBeUndefined();
  });
});
