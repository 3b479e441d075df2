import type { LeaseRef, StateReply } from '../../protocol/temporal.js';
import { retryWhileLost } from '../../workflows/attempts.js';

const SETTLED: StateReply = { at: { version: 1, sequence: 1, next: { do: 'end', step: 1 } } };

it('an attempt that was lost is scheduled again, and names what it replaces', async () => {
  const asked: LeaseRef[] = [];
  const timeouts: unknown[] = [];
  const outcome = await retryWhileLost({ hasLeases: true }, async ({ heartbeatTimeout }, ref) => {
    await Promise.resolve();
    timeouts.push(heartbeatTimeout);
    asked.push(ref);
    if (asked.length > 2) return SETTLED;
    const number = asked.length;
    return { kind: 'lost', token: 10 * number, number, progress: { steps: number } };
  });
  expect(outcome).toBe(SETTLED);
  expect(asked).toEqual([
    { isLeased: true },
    { isLeased: true, replaces: { token: 10, number: 1, progress: { steps: 1 } } },
    { isLeased: true, replaces: { token: 20, number: 2, progress: { steps: 2 } } },
  ]);
  // A frozen worker may get the next attempt; its heartbeat timeout reveals that soon.
  expect(timeouts).toEqual(['90s', undefined, undefined]);
});

it('so it names how many of those that it replaces had not begun', async () => {
  const asked: LeaseRef[] = [];
  await retryWhileLost({ hasLeases: true }, async (_, ref) => {
    await Promise.resolve();
    asked.push(ref);
    const number = asked.length;
    if (number > 3) return SETTLED;
    return { kind: 'lost', token: number, number, ...(number !== 2 && { begun: false }) };
  });
  expect(asked.map(({ replaces }) => replaces?.unbegun)).toEqual([undefined, 1, 1, 2]);
});

it('what has held up a worker is known to all attempts that follow', async () => {
  const asked: LeaseRef[] = [];
  await retryWhileLost({ hasLeases: true }, async (_, ref) => {
    await Promise.resolve();
    asked.push(ref);
    const number = asked.length;
    if (number > 3) return SETTLED;
    return { kind: 'lost', token: number, number, ...(number === 2 && { blockedBy: 'c1' }) };
  });
  expect(asked.map(({ replaces }) => replaces?.blockedBy)).toEqual([
    undefined,
    undefined,
    'c1',
    'c1',
  ]);
});

it('a call that found no place to start eagerly keeps the long time-out, since no worker was lost', async () => {
  const asked: unknown[] = [];
  await retryWhileLost({ hasLeases: true }, async ({ heartbeatTimeout }, { replaces }) => {
    await Promise.resolve();
    asked.push([heartbeatTimeout, replaces?.unbegun]);
    if (asked.length > 1) return SETTLED;
    return { kind: 'lost', token: 5, number: 1, begun: false, moved: true };
  });
  expect(asked).toEqual([
    ['90s', undefined],
    ['90s', 1],
  ]);
});

it('without leases heartbeats notice a dead worker', async () => {
  await retryWhileLost({}, async (options, ref) => {
    await Promise.resolve();
    expect([options, ref]).toEqual([{}, {}]);
    return SETTLED;
  });
});

it('an activity that an operator completed by hand, with any result, is scheduled again', async () => {
  const results: unknown[] = [
    null,
    5,
    'done',
    ['done'],
    { x: 1 },
    { at: 'x' },
    { at: {} },
    { at: { next: {} } },
    SETTLED,
  ];
  const schedule = () => Promise.resolve(results.shift() as StateReply);
  expect([await retryWhileLost({}, schedule), results]).toEqual([SETTLED, []]);
  results.push(null, { kind: 'stored' }, { kind: 'refused' });
  expect([await retryWhileLost({}, schedule, ['refused']), results]).toEqual([
    { kind: 'refused' },
    [],
  ]);
});
