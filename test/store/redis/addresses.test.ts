import { isRedisUrl } from '../../../config/env.js';
import { parseRedisAddress } from '../../../store/redis/addresses.js';

describe('the address of a Redis', () => {
  it.each([
    ['redis://127.0.0.1:6379', { kind: 'standalone', url: 'redis://127.0.0.1:6379' }],
    ['rediss://me:pw@host/2', { kind: 'standalone', url: 'rediss://me:pw@host/2' }],
    [
      'redis-cluster://a:7000,b:7001',
      {
        kind: 'cluster',
        nodes: [
          { host: 'a', port: 7000 },
          { host: 'b', port: 7001 },
        ],
        tls: false,
      },
    ],
    [
      'rediss-cluster://me:p%40ss@a,[::1]:7001/',
      {
        kind: 'cluster',
        nodes: [
          { host: 'a', port: 6379 },
          { host: '::1', port: 7001 },
        ],
        username: 'me',
        password: 'p@ss',
        tls: true,
      },
    ],
    [
      'redis-sentinel://:pw@s1,s2:26380/main/3',
      {
        kind: 'sentinel',
        sentinels: [
          { host: 's1', port: 26_379 },
          { host: 's2', port: 26_380 },
        ],
        name: 'main',
        db: 3,
        password: 'pw',
        tls: false,
      },
    ],
    [
      'redis-sentinel://s1/main',
      {
        kind: 'sentinel',
        sentinels: [{ host: 's1', port: 26_379 }],
        name: 'main',
        db: 0,
        tls: false,
      },
    ],
    [
      'rediss-sentinel://:pw@s1/main?sentinelUsername=me&ca=/ca.pem&sentinelPassword=p%40s',
      {
        kind: 'sentinel',
        sentinels: [{ host: 's1', port: 26_379 }],
        name: 'main',
        db: 0,
        password: 'pw',
        tls: true,
        files: { ca: '/ca.pem' },
        sentinelUsername: 'me',
        sentinelPassword: 'p@s',
      },
    ],
    [
      'redis-sentinel://:p?w@s1/main',
      {
        kind: 'sentinel',
        sentinels: [{ host: 's1', port: 26_379 }],
        name: 'main',
        db: 0,
        password: 'p?w',
        tls: false,
      },
    ],
    [
      'rediss://me:pw@host/2?family=6&ca=%2Fca.pem&cert=/c.pem&key=/k.pem',
      {
        kind: 'standalone',
        url: 'rediss://me:pw@host/2?family=6',
        files: { ca: '/ca.pem', cert: '/c.pem', key: '/k.pem' },
      },
    ],
    [
      'rediss-cluster://:p?w@a?ca=/c@a.pem',
      {
        kind: 'cluster',
        nodes: [{ host: 'a', port: 6379 }],
        password: 'p?w',
        tls: true,
        files: { ca: '/c@a.pem' },
      },
    ],
  ])('%s', (url, address) => {
    expect(parseRedisAddress(url)).toEqual(address);
    expect(isRedisUrl(url)).toBe(true);
  });

  it.each([
    '',
    'localhost:6379',
    'http://localhost',
    'redis-cluster://',
    'redis-cluster://:secret@',
    'redis-cluster://a:b',
    'redis-cluster://a:99999999',
    'redis-cluster://a,,b',
    'rediss-cluster://a?password=secret',
    'redis-cluster://a:7000/1',
    'redis-cluster://a b:7000',
    'redis-sentinel://:secret@a:26379',
    'redis-sentinel://a:26379/',
    'redis-sentinel://a:26379/main/x',
    'redis-sentinel://a:26379/main?x=secret',
    'redis-cluster://a?sentinelPassword=secret',
  ])('"%s" is refused as an address, without quoting its secrets', (url) => {
    let thrown: unknown;
    try {
      parseRedisAddress(url);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ name: 'HelixError', code: 'validation_error' });
    expect((thrown as Error).message).not.toContain('secret');
    expect(isRedisUrl(url)).toBe(false);
  });

  it.each(['redis://a?ca=/ca.pem', 'rediss://a?cert=/c.pem', 'redis-cluster://a?key=/k.pem'])(
    '%s names files that are not whole, or for no TLS',
    (url) => {
      expect(() => parseRedisAddress(url)).toThrow(/ca, cert and key are for|must both be given/);
    },
  );
});
