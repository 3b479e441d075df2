import { EventEmitter, once } from 'node:events';
import { ActivityNotFoundError } from '@temporalio/client';
import { pino } from 'pino';
import { runUntilFault } from '../../worker/run-main.js';
import { createTakeOver } from '../../worker/take-over.js';

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

const grpc = (code: number): Error => Object.assign(new Error(`grpc ${String(code)}`), { code });

it.each([
  ['takes', undefined, true],
  ['knows no longer', new ActivityNotFoundError('gone'), true],
  ['refuses for good', grpc(3), true],
  ['cannot take now', grpc(14), false],
])(
  'an attempt of a dead worker is reported as lost, which Temporal %s',
  async (_, refusal, isDone) => {
    const reset = jest.fn(() => Promise.reject(new Error('away')));
    const complete = jest.fn(() =>
      refusal === undefined ? Promise.resolve() : Promise.reject(refusal),
    );
    const takeOver = createTakeOver({
      connection: { withDeadline: (_at: number, work: () => unknown) => work() },
      options: { namespace: 'n' },
      workflowService: { resetStickyTaskQueue: reset },
      activity: { complete },
    } as never);
    const lost = { token: 7, number: 2, blockedBy: 'c1', progress: { step: 3 } };
    const execution = { workflowId: 'run:s:1-x', runId: 'e' };
    const taken = takeOver({
      id: 'e:1:2',
      taskToken: 'AQI=',
      isPatient: true,
      ...execution,
      ...lost,
    });
    if (isDone) await taken;
    else await expect(taken).rejects.toMatchObject({ code: 'unavailable' });
    expect(reset.mock.calls).toEqual([[{ namespace: 'n', execution }]]);
    expect(complete.mock.calls).toEqual([[Buffer.from([1, 2]), { kind: 'lost', ...lost }]]);
  },
);
