import { createLeaseNames } from '../../scripts/start/processes.mjs';

it('a worker that is started again knows the lease of the one that ended', () => {
  const names = ['a', 'b', 'c'];
  const next = createLeaseNames(() => names.shift());
  expect([next(), next(), next()]).toEqual([
    { LEASE_ID: 'a' },
    { LEASE_ID: 'b', ENDED_LEASE_ID: 'a' },
    { LEASE_ID: 'c', ENDED_LEASE_ID: 'b' },
  ]);
});
