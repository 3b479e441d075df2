import type { Client } from '@temporalio/client';
import { eraseWorkflows } from '../../runs/erase-workflows.js';

const NOT_FOUND = 5;
const calls = {
  call: <T>(work: () => Promise<T>) => work(),
  codeOf: (error: unknown) => (error as { code?: number }).code,
  isRefusedForGood: () => false,
};

/** A Temporal that knows these workflows, and lists none of them yet. */
function temporal(known: readonly string[]): { client: Client; deleted: string[] } {
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
    workflow: { list: () => [] },
  } as unknown as Client;
  return { client, deleted };
}

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
  expect(await eraseWorkflows(client, 's', record, calls)).toEqual({
    deleted: 3,
    unknown: ['s.x:1-b'],
  });
  expect(deleted).toEqual(['run:s:1-a', 'call:s:1-a:c1', 'call:s.x:1-b:c1']);
});
