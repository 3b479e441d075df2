import { explainRedis, warningsOf, type ServerInfo } from '../../../store/redis/inspect-redis.js';
import { createRedisUser } from '../../support/redis-user.js';
import { openTestStores, sharedRedisUrl } from '../../support/test-stores.js';

describe('what a process says of its Redis at the start', () => {
  it('nothing if it can be used', async () => {
    expect(await explainRedis(sharedRedisUrl(), 'redis://here')).toBeUndefined();
  });

  it.each([
    [
      'no server listens',
      'redis://127.0.0.1:1',
      /cannot be reached: .*ECONNREFUSED.*correct REDIS_URL/,
    ],
    [
      'the name in its address, which has the word tls, is not known',
      'redis://redis-tls.invalid:6379',
      /cannot be reached: .*redis-tls.*correct REDIS_URL/,
    ],
    [
      'the password is wrong',
      undefined,
      /^Redis at here .*Correct user and password in REDIS_URL\.$/,
    ],
    ['it has no TLS', 'rediss', /REDIS_URL: redis:\/\/ without TLS|redis:\/\/ without; NODE_EXTRA/],
  ])('%s: one sentence names the setting, and no secret', async (_what, url, sentence) => {
    const withPassword = sharedRedisUrl().replace('://', '://ann:secret-word@');
    const text = await explainRedis(
      url === 'rediss' ? withPassword.replace('redis:', 'rediss:') : (url ?? withPassword),
      'here',
    );
    expect(text).toMatch(sentence);
    expect(text).not.toContain('secret-word');
  });

  it('a user without rights is named, with what to do, though it can connect', async () => {
    const { redis } = await openTestStores();
    const few = ['-@all', '+ping', '+hello'];
    // The last user lacks only a command of the scripts, so it fails in mid-work.
    for (const rights of [few, [...few, '+info'], ['-xdel']]) {
      const user = await createRedisUser(redis, 'hx', ...rights);
      const text = await explainRedis(user.url, 'here');
      expect(text).toMatch(
        /may not use .*Give the user of REDIS_URL the rights that docs\/redis\.md/,
      );
      expect(text).not.toMatch(/cannot be reached|secret/);
    }
  });

  it('settings that lose conversations are named with what to set', () => {
    const well: ServerInfo = {
      version: '7.2.5',
      isReplica: false,
      hasAppendOnlyFile: true,
      isFileWritten: true,
      maxmemoryPolicy: 'noeviction',
      maxmemory: 0,
      usedMemory: 1,
      evictedKeys: 0,
    };
    expect(warningsOf(well)).toEqual([]);
    const faulty = { version: '6.0.9', hasAppendOnlyFile: false, maxmemoryPolicy: 'allkeys-lru' };
    expect(warningsOf({ ...well, ...faulty, evictedKeys: 3 })).toEqual([
      expect.stringContaining('Set appendonly yes.'),
      expect.stringMatching(/maxmemory-policy allkeys-lru.*Set maxmemory-policy noeviction\.$/),
      expect.stringContaining('has evicted 3 keys'),
      expect.stringContaining('Upgrade it to 6.2'),
    ]);
  });
});
