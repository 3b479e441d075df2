import { EventEmitter, once } from 'node:events';
import { pino } from 'pino';
import { runUntilFault } from '../../worker/run-main.js';

/** A worker whose run ends when it is shut down. */
function open(first: 'INITIALIZED' | 'RUNNING') {
  const codes: number[] = [];
  const proc = Object.assign(new EventEmitter(), { exit: (code: number) => codes.push(code) });
  let state: 'INITIALIZED' | 'RUNNING' | 'DRAINING' = first;
  const worker = {
    getState: () => state,
    shutdown: () => {
      if (state !== 'RUNNING') throw new Error('Not running');
      state = 'DRAINING';
    },
    run: async () => {
      await once(proc, 'drained');
    },
  };
  const running = runUntilFault(worker, { proc: proc as never, logger: pino({ level: 'silent' }) });
  return { proc, codes, worker, running };
}

it.each(['uncaughtException', 'unhandledRejection'])(
  'after an %s a worker hands over its work, and then fails with the first error',
  async (event) => {
    const { proc, worker, running } = open('RUNNING');
    proc.emit(event, new Error('in a timer'));
    expect(worker.getState()).toBe('DRAINING');
    proc.emit(event, new Error('again'));
    proc.emit('drained');
    await expect(running).rejects.toThrow('in a timer');
  },
);

it('a worker that hands over its work already goes on with that', async () => {
  const { proc, worker, running } = open('RUNNING');
  worker.shutdown();
  proc.emit('uncaughtException', new Error('late'));
  proc.emit('drained');
  await expect(running).rejects.toThrow('late');
});

it('before a worker runs, Node ends its process', () => {
  const { proc } = open('INITIALIZED');
  expect(() => proc.emit('uncaughtException', new Error('early'))).toThrow('early');
});

it('a worker that is asked again while it hands over its work ends at once', () => {
  jest.useFakeTimers();
  const { proc, codes } = open('RUNNING');
  proc.emit('SIGTERM');
  jest.advanceTimersByTime(2_000);
  proc.emit('SIGINT');
  expect(codes).toEqual([1]);
});
