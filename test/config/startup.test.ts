import { EventEmitter } from 'node:events';
import { closeOnSignal, withoutSecrets } from '../../config/startup.js';

describe('an address that is shown', () => {
  it('a printed address has neither user nor password', () => {
    expect(withoutSecrets('redis://me:secret@host:6379/2')).toBe('redis://host:6379/2');
    expect(withoutSecrets('redis://host:6379')).toBe('redis://host:6379');
    expect(withoutSecrets('rediss://host?password=secret&ca=/ca.pem')).toBe('rediss://host');
    expect(withoutSecrets('redis-cluster://me:s@cret@a:1,b:2')).toBe('redis-cluster://a:1,b:2');
    expect(withoutSecrets('redis-sentinel://a:1,b:2/main')).toBe('redis-sentinel://a:1,b:2/main');
  });
});

describe('a process that is told to end', () => {
  function open(close: (error?: unknown) => Promise<void>) {
    const codes: number[] = [];
    const proc = Object.assign(new EventEmitter(), { exit: (code: number) => codes.push(code) });
    closeOnSignal(proc as never, 20, close);
    return { proc, codes };
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it.each([
    ['SIGTERM', undefined, () => Promise.resolve(), 0],
    ['uncaughtException', new Error('odd'), () => Promise.resolve(), 1],
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

  it('twice, ends at once', () => {
    const { proc, codes } = open(() => new Promise(() => undefined));
    proc.emit('SIGINT');
    expect(codes).toEqual([]);
    proc.emit('SIGINT');
    expect(codes).toContain(1);
  });
});
