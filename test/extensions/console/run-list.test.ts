import type { Client } from '@temporalio/client';
import { createRunList, toListed, toRunQuery } from '../../../extensions/console/run-list.js';
import { workflowIdOf } from '../../../protocol/ids.js';
import { WORKFLOW_TYPE } from '../../../protocol/temporal-names.js';

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

describe('a run that is listed without a tenant', () => {
  const list = (runId: string) =>
    toListed(
      { execution: { workflowId: workflowIdOf(runId) }, type: { name: WORKFLOW_TYPE } },
      undefined,
    );

  it('is not one of a tenant by its id', () => {
    expect(list(`${'a'.repeat(16)}~s:1-x`)).toEqual([]);
    expect(list('s:1-x')).toMatchObject([{ runId: 's:1-x' }]);
  });
});

it('runs without search attributes are not listed', () => {
  const temporal = { client: {} as Client, taskQueue: 'q', searchAttributes: false };
  const unlisted: unknown = expect.objectContaining({ code: 'unavailable' });
  for (const engine of [undefined, temporal]) {
    expect(() => createRunList(engine)).toThrow(unlisted);
  }
});
