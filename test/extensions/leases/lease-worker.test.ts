import type { RunEvent } from '../../../protocol/telemetry.js';
import type { Leases } from '../../../store/contract/leases.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { beginLease, createLease } from '../../../extensions/leases/lease-worker.js';
import { until } from '../../support/until.js';

const logger = { info: () => undefined, warn: () => undefined };

function open() {
  const { leases } = createMemoryStores().store;
  if (leases === undefined) throw new Error('the store in memory has leases');
  const deps = { id: 'w', leases, namespace: 'n', unansweredMs: undefined, logger };
  const ours: Leases = leases.of('n');
  return { deps, leases: ours };
}

it('a worker that never runs holds no lease', async () => {
  const { deps, leases } = open();
  const unused = createLease(deps);
  await new Promise((resolve) => setImmediate(resolve));
  expect(await leases.holders()).toEqual([]);
  unused.lease.start();
  await until('it runs', async () => (await leases.holders()).length > 0);
  await unused.lease.close();
  expect(await leases.holders()).toEqual([]);
});

it('a lease that has begun is returned once, also if its worker never runs', async () => {
  const { deps, leases } = open();
  const begun = beginLease(deps);
  await until('it has begun', async () => (await leases.holders()).length > 0);
  await begun.lease.close();
  expect(await leases.holders()).toEqual([]);
  const holder = begun.lease.holder();
  await leases.renew(holder, 60_000);
  await begun.lease.close();
  expect(await leases.holders()).toEqual([holder]);
});

it('a process that gets the name of one that died does not renew the lease of that one', async () => {
  const { deps, leases } = open();
  const [dead, successor] = [beginLease(deps), beginLease(deps)];
  await until('both have begun', async () => (await leases.holders()).length === 2);
  expect(successor.lease.isOwn(dead.lease.holder())).toBe(false);
  await Promise.all([dead, successor].map(({ lease }) => lease.close()));
});

it('a former process that left its lease behind has died, and counts once', async () => {
  const { deps, leases } = open();
  const work = { taskToken: 'a', workflowId: 'run:a', runId: 'a', token: 1, number: 1 };
  // `f2` belongs to another process, which lives.
  for (const each of ['f', 'f.1', 'f2']) await leases.renew(each, 60_000);
  await leases.hold('f.1', { id: 'a', ...work });
  // A judge took `f` while its process lived, so the process continued as `f.1`.
  await leases.judge('f', 1);
  const begun = beginLease({ ...deps, replaces: 'f' });
  const counted: RunEvent['kind'][] = [];
  begun.countWith(({ kind }) => void counted.push(kind));
  const life = new AbortController();
  const judging = begun.judge(life.signal, () => Promise.resolve());
  const left = ['f2', begun.lease.holder()].join();
  await until('all is taken', async () => (await leases.holders()).sort().join() === left);
  life.abort();
  await judging;
  await begun.lease.close();
  expect(counted.sort()).toEqual(['attempt_taken_over', 'lease_judged']);
});
