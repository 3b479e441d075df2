import { assertSettings, must, settings } from '../../agents/index.js';
import type { Extension } from '../../extension.js';
import type { RunsHost } from '../../runs/extension.js';
import { defineRoute, mayRead, type Route } from '../../api/extension.js';
import { UsageQuery, UsageReply, type UsageRow } from '../../protocol/operator.js';
import { type UsageSum, addUsage } from '../../store/contract/usage.js';
import {
  budgetsOfSettings,
  createBudgetCheck,
  warnOfUnpriced,
  type Budgets,
  type BudgetSettings,
} from './budgets.js';
import { admit } from './admission.js';
import {
  createQuotasOf,
  quotasOfSettings,
  readQuotas,
  type Quotas,
  type QuotaSettings,
} from './quotas.js';

export { budgetsOfSettings, unpricedAgents, type Budget, type Budgets } from './budgets.js';
export { toQuotas, type Quotas } from './quotas.js';

export interface LimitOptions {
  /**
   * Quotas, see `toQuotas`. Default: 20 active runs, 10 queued messages, 1,000 sessions and 256 MB
   * for each user, 50 times that for each tenant; no limits if no user is named.
   */
  quotas?: Quotas | 'unlimited' | undefined;
  /** Default: no limit. */
  budgets?: Budgets | undefined;
}

/**
 * Reads the options from settings.
 *
 * @param isOpen true for an API without sign-in; absent in workers
 */
export function limitsOfSettings(
  settings: QuotaSettings & BudgetSettings & { HOST: string },
  { isOpen }: { isOpen?: boolean } = {},
): LimitOptions {
  return {
    quotas: isOpen === undefined ? quotasOfSettings(settings) : readQuotas(settings, { isOpen }),
    budgets: budgetsOfSettings(settings),
  };
}

/** No comparison with NaN is true: a quota of NaN would limit nothing, and a budget of it refuse everything. */
const Limit = must('a number from 0', (value) => typeof value === 'number' && value >= 0);
const Counts = settings({ runs: Limit, queued: Limit, sessions: Limit, bytes: Limit });
const Amounts = settings({ dayUsd: Limit.optional(), monthUsd: Limit.optional() }).optional();
const Action = must(`'refuse' or 'warn'`, (value) => value === 'refuse' || value === 'warn');
const Settings = settings({
  quotas: settings({ user: Counts, tenant: Counts }).optional(),
  budgets: settings({ user: Amounts, tenant: Amounts, action: Action.optional() }).optional(),
});

/**
 * Limits what users and tenants have and spend, and shows operators their usage. A run that would
 * begin, continue or be copied beyond a quota is refused as `quota_exceeded`; one that would begin
 * or continue beyond a budget as `budget_exceeded`.
 *
 * @throws DefinitionError that names each limit that is no number
 */
export function limits({ quotas, budgets }: LimitOptions = {}): Extension {
  const numbers = { quotas: quotas === 'unlimited' ? undefined : quotas, budgets };
  assertSettings(Settings, numbers, { call: 'limits' });
  const quotasOf = createQuotasOf(quotas);
  const checks = new WeakMap<RunsHost, ReturnType<typeof createBudgetCheck>>();
  return {
    name: 'limits',
    routes: [OPERATOR_USAGE_ROUTE],
    start: (host) => {
      if (budgets === undefined) return;
      checks.set(host, createBudgetCheck(budgets, host));
      warnOfUnpriced(host);
    },
    before: async (begin, host) => {
      if (begin.purpose !== 'copy') await checks.get(host)?.(begin);
      return admit(quotasOf(begin), begin, host.store.owners);
    },
  };
}

/** Operators' route of the tenant's usage. */
const OPERATOR_USAGE_ROUTE: Route = defineRoute({
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

/** Adds up the sums of each group. Pure. */
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
