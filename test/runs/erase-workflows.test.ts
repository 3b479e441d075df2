import type { Client } from '@temporalio/client';
import { toDeliveryId, toDeliveryPrefix, toNoticeId, toWhose } from '../../runs/deliveries.js';
import { eraseWorkflows } from '../../runs/erase-workflows.js';

const NOT_FOUND = 5;

/** Fakes a Temporal with these workflows that lists none of them yet, or all that a query finds. */
function temporal(
  known: readonly string[],
  listed: readonly string[] = [],
): { client: Client; deleted: string[] } {
  const deleted: string[] = [];
  const deleteWorkflowExecution = ({
    workflowExecution,
  }: {
    workflowExecution: { workflowId: string };
  }) => {
    const { workflowId } = workflowExecution;
    if (!known.includes(workflowId))
      return Promise.reject(Object.assign(new Error(), { code: NOT_FOUND }));
    deleted.push(workflowId);
    return Promise.resolve();
  };
  const client = {
    workflowService: { deleteWorkflowExecution },
    options: { namespace: 'test' },
    connection: { withDeadline: (_: number, work: () => unknown) => work() },
    workflow: {
      list: ({ query }: { query: string }) => {
        const prefixes = [...query.matchAll(/STARTS_WITH '([^']+)'/g)].map(([, prefix]) => prefix);
        return listed
          .filter((id) => prefixes.some((prefix = '') => id.startsWith(prefix)))
          .map((workflowId) => ({ workflowId, runId: 'r' }));
      },
    },
  } as unknown as Client;
  return { client, deleted };
}

it('ids of notices and deliveries, and what stands for their owner, stay as they were', () => {
  const id = toNoticeId('a');
  expect(id).toBe('msg_ca978112ca1bbdcafac231b39a23dc4d');
  const delivery = toDeliveryId({ id, type: 'run.failed', at: 1, sessionId: 's' }, 'ops');
  expect(delivery).toBe('d-043a718774c572bd8a25adbe-ca978112ca1bbdcafac231b39a23dc4d-ops');
  expect(toWhose({ owner: 'ann', tenant: 'acme' })).toBe('6b3f2916639da89d');
  expect(toWhose({ owner: 'ann' })).toBe('bff4d1182001709d');
});

it('the work of calls is deleted though Temporal does not list it yet', async () => {
  const { client, deleted } = temporal(['run:s:1-a', 'call:s:1-a:c1', 'call:s.x:1-b:c1']);
  const record = {
    runs: ['s:1-a'],
    parts: ['x'],
    childRuns: ['s.x:1-b'],
    owner: { owner: 'ann' },
    calls: [
      ['s:1-a', 'c1'],
      ['s:1-a', 'c2'],
      ['s.x:1-b', 'c1'],
    ] as [string, string][],
  };
  expect(await eraseWorkflows(client, 's', record)).toEqual({
    deleted: 3,
    unknown: ['s.x:1-b'],
  });
  expect(deleted).toEqual(['run:s:1-a', 'call:s:1-a:c1', 'call:s.x:1-b:c1']);
});

it('what Temporal lists of its runs, their notices and deliveries is deleted, and nothing of others', async () => {
  const owner = { owner: 'ann', tenant: 'acme' };
  const own = [
    'run:s:1-a',
    'call:s:1-a:c9',
    'wait:s:1-a:1',
    'end:s:1-a',
    'wait:s.x:1-b:1',
    `deliver:${toDeliveryPrefix('s', 'acme')}n-mail`,
  ];
  const others = ['end:s:1-z', 'wait:s.y:1-b:1', `deliver:${toDeliveryPrefix('t', 'acme')}n-mail`];
  const { client, deleted } = temporal([...own, ...others], [...own, ...others]);
  const record = { runs: ['s:1-a'], parts: ['x'], childRuns: [], owner, calls: [] };
  await eraseWorkflows(client, 's', record);
  expect(new Set(deleted)).toEqual(new Set(own));
});

it('all runs of a long conversation are deleted', async () => {
  const runs = Array.from({ length: 25 }, (_, n) => `s:${String(n)}-a`);
  const { client, deleted } = temporal(runs.map((runId) => `run:${runId}`));
  const record = { runs, parts: [], childRuns: [], owner: { owner: 'ann' }, calls: [] };
  expect(await eraseWorkflows(client, 's', record)).toEqual({ deleted: 25, unknown: [] });
  expect(deleted).toHaveLength(25);
});

const never = new Promise<never>(() => undefined);

it.each([
  [
    'list',
    { workflow: { list: () => ({ [Symbol.asyncIterator]: () => ({ next: () => never }) }) } },
  ],
  ['deletion', { workflowService: { deleteWorkflowExecution: () => never } }],
])('a Temporal that does not answer a %s is unavailable in time', async (_name, silent) => {
  jest.useFakeTimers();
  const { client } = temporal([]);
  Object.assign(client, silent);
  const record = { runs: ['s:1-a'], parts: [], childRuns: [], owner: { owner: 'ann' }, calls: [] };
  let refusal: unknown;
  eraseWorkflows(client, 's', record).catch((error: unknown) => (refusal = error));
  await jest.advanceTimersByTimeAsync(10_000);
  expect(refusal).toMatchObject({ code: 'unavailable' });
});
