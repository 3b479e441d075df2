import { createKeyspace, type Keyspace } from '../../../../stores/memory/keyspace/keyspace.js';
import { RedisError } from '../../../../stores/memory/keyspace/reply.js';

function withClock(): Keyspace & { pass: (ms: number) => void } {
  let time = 1_700_000_000_123.5;
  const keyspace = createKeyspace({ now: () => time });
  return {
    ...keyspace,
    pass: (ms) => {
      time += ms;
    },
  };
}

describe('expiry in a keyspace', () => {
  it('expiry removes a key after its time, and not at it', () => {
    const { call, pass, dump } = withClock();
    call('SET', 'a', 1, 'PX', 1_000);
    call('RPUSH', 'b', 1);
    call('EXPIRE', 'b', 2);
    expect(dump()).toEqual({
      a: { type: 'string', value: '1', expires: true },
      b: { type: 'list', value: ['1'], expires: true },
    });
    pass(1_000);
    expect([call('GET', 'a'), call('PTTL', 'a'), call('PTTL', 'b')]).toEqual(['1', 0, 1_000]);
    pass(1);
    expect([call('GET', 'a'), call('PTTL', 'a')]).toEqual([false, -2]);
    pass(1_000);
    expect([call('EXISTS', 'b', 'b'), call('DBSIZE')]).toEqual([0, 0]);
    expect(dump()).toEqual({});
  });

  it.each([
    ['HINCRBY', 'k', 'n', 1],
    ['SADD', 'k', 'a'],
    ['SET', 'k', 'a', 'NX'],
    ['XADD', 'k', '1-0', 'a', 'b'],
    ['ZADD', 'k', 1, 'a'],
    ['RPUSH', 'k', 'a'],
  ])('expiry leaves nothing behind for %s', (command, ...args) => {
    const { call, pass } = withClock();
    call('HSET', 'k', 'n', 5, 'm', 6);
    call('PEXPIRE', 'k', 10);
    pass(11);
    call(command, ...args);
    expect(call('PTTL', 'k')).toBe(-1);
  });

  it('an expiry moves with a renamed key, and ends with a removed one', () => {
    const { call } = withClock();
    call('SET', 'a', 1, 'PX', 100);
    call('SET', 'b', 2, 'PX', 500);
    call('RENAME', 'a', 'b');
    expect([call('PTTL', 'b'), call('GET', 'b'), call('EXISTS', 'a')]).toEqual([100, '1', 0]);
    call('DEL', 'b');
    call('SADD', 'b', 'x');
    call('EXPIRE', 'b', 10);
    expect(call('PTTL', 'b')).toBe(10_000);
    call('SREM', 'b', 'x');
    call('SADD', 'b', 'x');
    expect([call('PTTL', 'b'), call('PERSIST', 'b')]).toEqual([-1, 0]);
    call('PEXPIRE', 'b', 10);
    call('SET', 'b', 'y');
    expect(call('PTTL', 'b')).toBe(-1);
    expect([call('EXPIRE', 'b', 0), call('EXISTS', 'b')]).toEqual([1, 0]);
  });

  it('of a fork is its own', () => {
    const keyspace = withClock();
    keyspace.call('SET', 'a', 1, 'PX', 1_000);
    const fork = keyspace.fork();
    fork.call('PERSIST', 'a');
    keyspace.pass(2_000);
    expect([keyspace.call('GET', 'a'), fork.call('GET', 'a')]).toEqual([false, '1']);
  });
});

describe('a keyspace', () => {
  it('a keyspace returns the time in seconds and microseconds', () => {
    expect(withClock().call('TIME')).toEqual(['1700000000', '123000']);
  });

  it('a keyspace forwards what is published', () => {
    const publish = jest.fn();
    const { call } = createKeyspace({ now: () => 0, publish });
    expect(call('SPUBLISH', 'a', 1)).toBe(0);
    expect(publish.mock.calls).toEqual([['a', '1']]);
  });

  it('a keyspace refuses arguments that redis.call() refuses', () => {
    const { call } = withClock();
    expect(() => call('SET', 'a', undefined as unknown as string)).toThrow(
      new RedisError('ERR Lua redis lib command arguments must be strings or integers'),
    );
  });

  it.each([
    ['SET', 'a', 'b', 'XX'],
    ['EXPIRE', 'a', 1, 'NX'],
    ['LPOP', 'l', 2],
    ['LREM', 'l', 0, 'a'],
    ['LINSERT', 'l', 'AFTER', 'a', 'b'],
    ['ZRANGEBYSCORE', 'z', 0, 1, 'REV'],
    ['XRANGE', 's', '-', '+', 'KOUNT', 1],
    ['XTRIM', 's', 'MAXLEN', 5],
  ])('a keyspace names what it cannot do: %s %s %s %s', (command, ...args) => {
    expect(() => withClock().call(command, ...args)).toThrow(/does not support/);
  });

  it.each([['INFO', 'server'], ['get', 'a'], ['constructor']])(
    'a keyspace does not know other commands: %s',
    (command, ...args) => {
      expect(() => withClock().call(command, ...args)).toThrow(
        new RedisError(`ERR unknown command '${command}'`),
      );
    },
  );

  it('a keyspace counts as far as numbers are exact', () => {
    const { call } = withClock();
    call('HSET', 'h', 'n', Number.MAX_SAFE_INTEGER);
    expect(() => call('HINCRBY', 'h', 'n', 1)).toThrow(/would overflow/);
    expect(call('HINCRBY', 'h', 'n', -1)).toBe(Number.MAX_SAFE_INTEGER - 1);
    call('HSET', 'h', 'n', 2 ** 53);
    expect(() => call('HINCRBY', 'h', 'n', -1)).toThrow(/is not an integer/);
  });

  it('a keyspace returns replies that callers may change', () => {
    const { call } = withClock();
    call('RPUSH', 'list', 'a');
    call('XADD', 'stream', '1-0', 'a', 'b');
    (call('LRANGE', 'list', 0, -1) as string[]).push('x');
    const [entry] = call('XRANGE', 'stream', '-', '+') as [[string, string[]]];
    entry[1].push('x');
    expect(call('LRANGE', 'list', 0, -1)).toEqual(['a']);
    expect(call('XRANGE', 'stream', '-', '+')).toEqual([['1-0', ['a', 'b']]]);
  });

  it('a keyspace dumps keys of any name', () => {
    const { call, dump } = withClock();
    call('SET', 'constructor', 'b');
    call('SADD', '__proto__', 'b', 'a');
    expect(Object.entries(dump())).toEqual([
      ['__proto__', { type: 'set', value: ['a', 'b'], expires: false }],
      ['constructor', { type: 'string', value: 'b', expires: false }],
    ]);
  });
});

describe('fingerprints', () => {
  it('fingerprints depend on what is stored, not on how it was written', () => {
    const [one, other] = [withClock(), withClock()];
    one.call('HSET', 'h', 'a', 1, 'b', 2);
    one.call('SADD', 's', 'x', 'y');
    other.call('SADD', 's', 'y');
    other.call('SADD', 's', 'x', 'z');
    other.call('HSET', 'h', 'b', 2);
    expect(other.fingerprint()).not.toBe(one.fingerprint());
    other.call('HSET', 'h', 'a', 1);
    other.call('SREM', 's', 'z');
    expect(other.fingerprint()).toBe(one.fingerprint());
    other.call('EXPIRE', 's', 10);
    expect(other.fingerprint()).not.toBe(one.fingerprint());
    one.call('EXPIRE', 's', 20);
    expect(other.fingerprint()).toBe(one.fingerprint());
    one.call('RENAME', 's', 't');
    expect(other.fingerprint()).not.toBe(one.fingerprint());
  });

  it('fingerprints distinguish types', () => {
    const prints = [
      ['SADD', 'k', 'a'],
      ['RPUSH', 'k', 'a'],
      ['SET', 'k', '["a"]'],
    ].map(([command = '', ...args]) => {
      const keyspace = withClock();
      keyspace.call(command, ...args);
      return keyspace.fingerprint();
    });
    expect(new Set(prints).size).toBe(3);
  });

  it('see values as they are projected, each once until it is written to', () => {
    const keyspace = withClock();
    keyspace.call('HSET', 'h', 'clock', 1, 'state', 'a');
    keyspace.call('SET', 'seen', 1);
    const project = jest.fn((key: string, value: unknown) =>
      key === 'seen' ? undefined : (value as string[][]).filter(([field]) => field !== 'clock'),
    );
    const before = keyspace.fingerprint(project);
    const fork = keyspace.fork();
    expect(fork.fingerprint(project)).toBe(before);
    expect(project).toHaveBeenCalledTimes(2);
    fork.call('HSET', 'h', 'clock', 1, 'state', 'a');
    fork.call('SET', 'seen', 2);
    expect(fork.fingerprint(project)).toBe(before);
    expect(project).toHaveBeenCalledTimes(3);
    fork.call('HSET', 'h', 'clock', 2);
    expect(fork.fingerprint(project)).toBe(before);
    fork.call('HSET', 'h', 'state', 'b');
    expect(fork.fingerprint(project)).not.toBe(before);
    expect(keyspace.fingerprint(project)).toBe(before);
    expect(keyspace.fingerprint()).not.toBe(before);
  });
});
