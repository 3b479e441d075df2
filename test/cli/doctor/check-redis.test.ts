import { checkRedis } from '../../../cli/doctor/check-redis.js';
import type { ServerInfo } from '../../../store/redis/inspect-redis.js';

const WELL: ServerInfo = {
  version: '7.2.5',
  isReplica: false,
  hasAppendOnlyFile: true,
  isFileWritten: true,
  maxmemoryPolicy: 'noeviction',
  maxmemory: 0,
  usedMemory: 1_000,
  evictedKeys: 0,
};
const clock = { at: 0, askedAt: 0, repliedAt: 0 };
const address = 'redis://host:6379';

const judge = (servers: ServerInfo[], refusal?: string) =>
  checkRedis({ address, facts: { servers, clock, refusal } });

describe('what doctor says of Redis', () => {
  it.each(['6.2.0', '10.0.1'])('a server %s that keeps everything is well', (version) => {
    const found = judge([{ ...WELL, version }]);
    expect(found.map(({ level }) => level)).toEqual(['ok', 'ok', 'ok', 'ok']);
  });

  it.each<[string, Partial<ServerInfo>, string, string, string]>([
    ['is too old', { version: '6.0.9' }, 'redis', 'fail', 'Upgrade it to 6.2'],
    ['is a replica', { isReplica: true }, 'redis', 'fail', 'REDIS_URL'],
    ['keeps no file', { hasAppendOnlyFile: false }, 'redis persistence', 'fail', 'appendonly yes'],
    ['cannot write its file', { isFileWritten: false }, 'redis persistence', 'fail', 'dir'],
    ['evicts', { maxmemoryPolicy: 'allkeys-lru' }, 'redis memory', 'fail', 'noeviction'],
    ['has evicted', { evictedKeys: 3 }, 'redis memory', 'warn', 'noeviction'],
    ['is nearly full', { maxmemory: 1_050 }, 'redis memory', 'warn', 'maxmemory'],
  ])('a master that %s is found among others', (_, fault, check, level, fix) => {
    const found = judge([WELL, { ...WELL, ...fault }, WELL]).find((each) => each.check === check);
    expect(found?.level).toBe(level);
    expect(found?.fix).toContain(fix);
  });

  it('a missing right is named', () =>
    expect(judge([WELL], 'its Redis user may not use XDEL').at(-1)).toMatchObject({
      level: 'fail',
      finding: expect.stringContaining('XDEL'),
      fix: expect.stringContaining('docs/redis.md'),
    }));

  it.each([
    ['connect ECONNREFUSED 10.0.0.1:6379', 'Start it'],
    ['WRONGPASS invalid username-password pair', 'user and password in REDIS_URL'],
    ['self-signed certificate', 'NODE_EXTRA_CA_CERTS'],
    ['certificate has expired', 'Renew it on that server'],
  ])('a server that cannot be used because of "%s" is one finding', (reason, fix) => {
    const [only, ...others] = checkRedis({ address, reason });
    expect(only).toMatchObject({ level: 'fail', fix: expect.stringContaining(fix) });
    expect(others).toEqual([]);
  });
});
