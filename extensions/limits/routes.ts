import { defineRoute, mayRead, type Route } from '../../api/extension.js';
import { UsageQuery, UsageReply, type UsageRow } from '../../protocol/usage.js';
import type { UsageSum } from '../../stores/contract/usage.js';
import { addUsage } from '../../stores/record/run-usage.js';

/** What the tenant has used, for colleagues. */
export const OPERATOR_USAGE_ROUTE: Route = defineRoute({
  method: 'get',
  path: '/api/operator/usage',
  id: 'getUsage',
  audits: 'read',
  summary: 'Sum up what the ended runs of the tenant have used, by day, owner, agent and model',
  query: UsageQuery,
  replies: { 200: { description: 'The sums.', content: { json: UsageReply } } },
  refusals: ['not_allowed'],
  about: mayRead,
  handle: async ({ deps, response, query, caller }) => {
    const today = new Date().toISOString().slice(0, 10);
    const { until = today, since = `${until.slice(0, 8)}01`, by } = query;
    const sums = await deps.stateStore.usage.read(caller.tenantId, { since, until });
    const usage = groupUsage(sums, by, caller.tenantId);
    response.json({ since, until, usage } satisfies UsageReply);
  },
});

/** Adds up the sums that are in the same groups. Pure. */
export function groupUsage(
  sums: readonly UsageSum[],
  by: UsageQuery['by'],
  tenant = '',
): UsageRow[] {
  const rows = new Map<string, UsageRow>();
  for (const { day, owner, agent, model, runs, ...used } of sums) {
    const groups = { tenant, day, owner, agent, model };
    const key = JSON.stringify(by.map((name) => groups[name] ?? null));
    const { runs: before = 0, ...known } = rows.get(key) ?? {};
    rows.set(key, {
      ...Object.fromEntries(by.map((name) => [name, groups[name]])),
      runs: before + runs,
      ...(addUsage('inputTokens' in known ? known : undefined, used) ?? used),
    });
  }
  return [...rows.keys()].sort().flatMap((key) => rows.get(key) ?? []);
}
