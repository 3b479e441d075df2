import { EventEmitter } from 'node:events';
import { createCollectorLines } from '../../config/collector-lines.js';
import {
  closeOnSignal,
  endWithParent,
  isLoopback,
  untilReachable,
  withoutSecrets,
} from '../../config/startup.js';
import { until } from '../support/until.js';

it('a printed address has neither user nor password', () => {
  expect(withoutSecrets('redis://me:secret@host:6379/2')).toBe('redis://host:6379/2');
  expect(withoutSecrets('redis://host:6379')).toBe('redis://host:6379');
  expect(withoutSecrets('rediss://host?password=secret&ca=/ca.pem')).toBe('rediss://host');
  expect(withoutSecrets('redis-cluster://me:s@cret@a:1,b:2')).toBe('redis-cluster://a:1,b:2');
  const sentinels = 'redis-sentinel://a:1,b:2/main';
  expect(withoutSecrets(sentinels)).toBe(sentinels);
  for (const password of ['secret', 'p@ss']) {
    expect(withoutSecrets(`${sentinels}?sentinelPassword=${password}`)).toBe(sentinels);
  }
  expect(withoutSecrets('redis-cluster://:p?w@a:1,b:2?ca=/x@y.pem')).toBe(
    'redis-cluster://a:1,b:2',
  );
});

it('only an address of this machine is a loopback address', () => {
  const hosts = ['127.0.0.1', '127.1.2.3', '::1', 'localhost', '127host', '0.0.0.0'];
  expect(hosts.map(isLoopback)).toEqual([true, true, true, true, false, false]);
});

it('a server that does not answer is named, with the reason if that is found out', async () => {
  const away = () => Promise.reject(new Error('refused'));
  const reached = untilReachable('Redis at a:1', away, undefined, 10);
  await expect(reached).rejects.toThrow('Redis at a:1 cannot be reached.');
  const explain = (withinMs: number) =>
    Promise.resolve(`It wants a password (${String(withinMs)})`);
  const explained = untilReachable('Redis at a:1', away, explain, 10);
  await expect(explained).rejects.toThrow('It wants a password (5)');
});

describe('a process that is told to end', () => {
  function open(close: (error?: unknown) => Promise<void>, withinMs = 20) {
    const codes: number[] = [];
    const proc = Object.assign(new EventEmitter(), { exit: (code: number) => codes.push(code) });
    closeOnSignal(proc as never, withinMs, close);
    return { proc, codes };
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it.each([
    ['SIGTERM', undefined, () => Promise.resolve(), 0],
    ['SIGHUP', undefined, () => Promise.resolve(), 0],
    ['uncaughtException', new Error('odd'), () => Promise.resolve(), 1],
    ['unhandledRejection', new Error('odd'), () => Promise.resolve(), 1],
    ['SIGINT', undefined, () => Promise.reject(new Error('no')), 1],
  ])('by %s closes what it has open, and ends', async (event, error, close, code) => {
    const given: unknown[] = [];
    const { proc, codes } = open((why) => {
      given.push(why);
      return close();
    });
    proc.emit(event, error ?? event);
    await settled();
    expect([given, codes]).toEqual([[error], [code]]);
  });

  it('ends although something does not close in time', async () => {
    const { proc, codes } = open(() => new Promise(() => undefined));
    proc.emit('SIGTERM');
    await until('it has ended', () => codes.length > 0);
    expect(codes).toEqual([1]);
  });

  it('ends at once if something fails while it closes', () => {
    const { proc, codes } = open(() => new Promise(() => undefined), 5_000);
    proc.emit('SIGTERM');
    proc.emit('uncaughtException', new Error('odd'));
    expect(codes).toEqual([1]);
  });

  it('twice, ends at once, unless one request has come twice', () => {
    jest.useFakeTimers();
    let closes = 0;
    const { proc, codes } = open(() => new Promise(() => (closes += 1)), 5_000);
    proc.emit('SIGINT');
    proc.emit('SIGTERM');
    expect([closes, codes]).toEqual([1, []]);
    jest.advanceTimersByTime(2_000);
    proc.emit('SIGINT');
    expect(codes).toEqual([1]);
  });
});

it('a process asks itself to end when its parent is gone', () => {
  const signals: unknown[] = [];
  const kill = (pid: number, signal: string) => signals.push([pid, signal]);
  let isKeptAlive = true;
  const channel = { unref: () => (isKeptAlive = false) };
  const proc = Object.assign(new EventEmitter(), { pid: 7, kill, channel, send: () => true });
  endWithParent(proc as never);
  expect(isKeptAlive).toBe(false);
  proc.emit('disconnect');
  expect(signals).toEqual([[7, 'SIGTERM']]);
});

it('a collector that was away says for how many seconds', () => {
  jest.useFakeTimers();
  const said: object[] = [];
  const note = (fields: object) => said.push(fields);
  const about = { what: 'spans', setting: 'S', url: 'http://there:4318' };
  const { away, back } = createCollectorLines({ info: note, warn: note }, about);
  away('refused');
  away('refused');
  jest.advanceTimersByTime(90_000);
  back();
  back();
  expect(said).toEqual([{ cause: 'refused' }, { awaySeconds: 90 }]);
});
