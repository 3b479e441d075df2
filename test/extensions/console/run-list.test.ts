import type { Client } from '@temporalio/client';
import { createRunList, toListed, toRunQuery } from '../../../extensions/console/run-list.js';
import { workflowIdOf } from '../../../protocol/ids.js';
import { WORKFLOW_TYPE } from '../../../protocol/temporal.js';
import { startOnMemory } from '../../api/api-server.js';

const OWN = "AgentTenant = 'acme'";

describe('the query for the runs of a tenant', () => {
  it("the caller's query stands within parentheses, between two conditions for the tenant", () => {
    const query = toRunQuery('q', { tenant: 'acme', query: 'AgentTurn > 1 OR AgentTurn = 0' });
    expect(query.startsWith(OWN)).toBe(true);
    expect(query.endsWith(`(AgentTurn > 1 OR AgentTurn = 0) AND ${OWN}`)).toBe(true);
  });

  it('a caller without a tenant gets runs without one', () =>
    expect(toRunQuery('q', {})).toMatch(/^AgentTenant IS NULL AND /));

  it('names are quoted', () => {
    const query = toRunQuery("q\\'", { tenant: "a'b\\", agent: "x' OR 'y" });
    expect(query).toContain("AgentTenant = 'a''b\\\\' AND ");
    expect(query).toContain("TaskQueue = 'q\\\\'''");
    expect(query).toContain("AgentName = 'x'' OR ''y'");
  });

  it.each([
    "a = 1) OR (AgentTenant = 'b'",
    'a = 1) OR (b = 2) OR (c = 3',
    '(a = 1',
    "a = 'x",
    `a = "x'`,
    "a = '\\'' ) OR (b = '",
    'a = 1 -- ',
    'a = 1 /* ',
    'a = 1 # ',
    'a = `b`',
    'a = 1;',
  ])('%s is refused', (query) =>
    expect(() => toRunQuery('q', { tenant: 'acme', query })).toThrow(
      expect.objectContaining({ code: 'invalid_query' }),
    ),
  );

  it.each(["a = ')'", `a = "it's (" AND (b = 1 OR c IN ('x', 'y'))`])('%s is taken', (query) =>
    expect(toRunQuery('q', { query })).toContain(`(${query})`),
  );
});

it('a run that was closed from outside has failed, whatever its last status was', () => {
  expect(toRunQuery('q', { status: 'running' })).toContain("ExecutionStatus = 'Running'");
  expect(toRunQuery('q', { status: 'failed' })).not.toContain("ExecutionStatus = 'Running'");
  const run = { execution: { workflowId: workflowIdOf('s:1-x') }, type: { name: WORKFLOW_TYPE } };
  const [startTime, closeTime] = [{ seconds: 1 }, { seconds: 2 }];
  const listed = toListed({ ...run, startTime, closeTime }, undefined);
  expect(listed).toMatchObject([{ status: 'failed', startedAt: 1_000, endedAt: 2_000 }]);
  expect(toListed({ ...run, startTime }, undefined)).toMatchObject([{ status: 'running' }]);
});

describe('a run that is listed without a tenant', () => {
  const list = (runId: string) =>
    toListed(
      { execution: { workflowId: workflowIdOf(runId) }, type: { name: WORKFLOW_TYPE } },
      undefined,
    );

  it('is not one of a tenant by its id', () => {
    expect(list(`${'a'.repeat(16)}~s:1-x`)).toEqual([]);
    expect(list('s:1-x')).toMatchObject([{ runId: 's:1-x', agent: '' }]);
  });
});

it('runs without search attributes are not listed', () => {
  const temporal = { client: {} as Client, taskQueue: 'q', searchAttributes: false };
  const unlisted: unknown = expect.objectContaining({ code: 'unavailable' });
  for (const engine of [undefined, temporal]) {
    expect(() => createRunList(engine)).toThrow(unlisted);
  }
});

function temporalOf(workflowService: object) {
  const client = {
    workflowService,
    connection: { withDeadline: (_: unknown, work: () => Promise<unknown>) => work() },
    options: { namespace: 'default' },
  };
  return { client: client as unknown as Client, taskQueue: 'q', searchAttributes: true };
}

it('a page that Temporal cannot find is of another list, unlike a list that it refuses', async () => {
  const refuse = () =>
    Promise.reject(Object.assign(new Error('bad token'), { code: 3, details: '' }));
  const { list } = createRunList(temporalOf({ listWorkflowExecutions: refuse }));
  await expect(list({}, { limit: 1, cursor: 'x' })).rejects.toMatchObject({
    code: 'validation_error',
  });
  await expect(list({}, { limit: 1 })).rejects.toMatchObject({ code: 'unavailable' });
});

it('Temporal is asked only for runs of the tenant, for each list and each group', async () => {
  const asked: string[] = [];
  const ask = async ({ query }: { query: string }) => {
    asked.push(query);
    return { executions: [], nextPageToken: [], count: 1 };
  };
  const temporal = temporalOf({ listWorkflowExecutions: ask, countWorkflowExecutions: ask });
  const api = await startOnMemory({ instead: { temporal } });
  for (const path of ['', '/count', '/count?groupBy=agent', '/count?groupBy=tenant']) {
    const reply = await api.get(`/api/operator/runs${path}`, { 'x-user': 'eva@acme@viewer' });
    expect(reply.status).toBe(200);
  }
  expect(asked.length).toBeGreaterThan(4);
  for (const query of asked) expect(query.startsWith(`${OWN} AND `)).toBe(true);
});
