import { toNoticeId, type RunsHost } from '../../runs/extension.js';
import type { AgentDefinition, AgentRegistry } from '../../agents/index.js';
import { HelixError } from '../../protocol/errors.js';
import type { Notice } from '../../protocol/notices.js';
import type { Spending } from '../../store/contract/usage.js';
import type { SessionOwner } from '../../store/contract/waiting.js';

/** US dollars, by the prices of the agents' models; days and months begin at midnight UTC. */
export interface Budget {
  dayUsd?: number | undefined;
  monthUsd?: number | undefined;
}

/** Budgets of one user, and of all users of a tenant together. */
export interface Budgets {
  user?: Budget;
  tenant?: Budget;
  /**
   * `refuse` (the default): a run that would begin beyond a budget is refused as `budget_exceeded`;
   * runs that have begun continue. `warn`: it is only logged.
   */
  action?: 'refuse' | 'warn';
}

/** Budgets by the names of settings; all amounts are optional. */
export interface BudgetSettings {
  BUDGET_USER_DAY_USD?: number | undefined;
  BUDGET_USER_MONTH_USD?: number | undefined;
  BUDGET_TENANT_DAY_USD?: number | undefined;
  BUDGET_TENANT_MONTH_USD?: number | undefined;
  BUDGET_ACTION?: Budgets['action'];
}

/** Returns the budgets of the settings; undefined if none is set. */
export function budgetsOfSettings(settings: BudgetSettings): Budgets | undefined {
  const user = { dayUsd: settings.BUDGET_USER_DAY_USD, monthUsd: settings.BUDGET_USER_MONTH_USD };
  const { BUDGET_TENANT_DAY_USD: dayUsd, BUDGET_TENANT_MONTH_USD: monthUsd } = settings;
  const tenant = { dayUsd, monthUsd };
  const isSet = [user, tenant].flatMap(Object.values).some((usd) => usd !== undefined);
  return isSet ? { user, tenant, action: settings.BUDGET_ACTION ?? 'refuse' } : undefined;
}

/** A budget and the amount spent of it. */
export interface Spent {
  of: 'user' | 'tenant';
  period: keyof Spending;
  limitUsd: number;
  usedUsd: number;
}

/** A budget is logged from this share on. */
const NOTED_FROM = 0.8;
const MICRO = 1_000_000;
/** Most log entries to remember, so that each is written once. */
const MAX_NOTED = 10_000;

/** Returns the budgets, highest share spent first. Pure. */
export function sharesOf(budgets: Budgets, spent: Record<'user' | 'tenant', Spending>): Spent[] {
  const shares: Spent[] = [];
  for (const whose of ['user', 'tenant'] as const) {
    for (const period of ['day', 'month'] as const) {
      const limitUsd = budgets[whose]?.[`${period}Usd`];
      if (limitUsd === undefined) continue;
      shares.push({ of: whose, period, limitUsd, usedUsd: spent[whose][period] / MICRO });
    }
  }
  return shares.sort((a, b) => shareOf(b) - shareOf(a));
}

function shareOf({ limitUsd, usedUsd }: Spent): number {
  return limitUsd > 0 ? usedUsd / limitUsd : Infinity;
}

/**
 * Checks an owner's budgets before a run begins. Sums lag the end of a run by a moment, so
 * concurrent runs may exceed a budget by their own use.
 *
 * @returns a check that throws HelixError `budget_exceeded`
 */
export function createBudgetCheck(
  budgets: Budgets,
  { store: { usage }, logger, notify, meter }: RunsHost,
): (owner: SessionOwner) => Promise<void> {
  const noted = new Set<string>();

  function note({ owner, tenant }: SessionOwner, spent: Spent, today: string): void {
    const window = today.slice(0, spent.period === 'day' ? 10 : 7);
    const isSpent = shareOf(spent) >= 1;
    const key = JSON.stringify([tenant, spent.of === 'user' && owner, window, isSpent]);
    if (noted.has(key)) return;
    if (noted.size >= MAX_NOTED) noted.clear();
    noted.add(key);
    logger.warn({ owner, tenant, ...spent }, 'most of a budget is spent');
    if (!isSpent) return;
    meter({ kind: 'budget_spent', of: spent.of, period: spent.period });
    notify?.(toSpendNotice({ owner, tenant }, spent, window)).catch((err: unknown) => {
      // The next begin within this budget tries again.
      noted.delete(key);
      logger.warn({ err, owner, tenant }, 'receivers could not be notified of a spent budget');
    });
  }

  return async (owner) => {
    // The sums of a day that ends during the read must not use up the next day's notice.
    const today = new Date().toISOString().slice(0, 10);
    const shares = sharesOf(budgets, await usage.spent(owner));
    for (const spent of shares) if (shareOf(spent) >= NOTED_FROM) note(owner, spent, today);
    const over = shares.filter((spent) => shareOf(spent) >= 1);
    // The refusal says when a run can begin again, which is when the longest period is over.
    const [last] = [...over.filter(({ period }) => period === 'month'), ...over];
    if (last !== undefined && budgets.action !== 'warn') throw budgetExceeded(last);
  };
}

function budgetExceeded({ of, period, limitUsd }: Spent): HelixError {
  const whose = of === 'tenant' ? 'your organisation' : 'you';
  const from = period === 'day' ? 'midnight UTC' : 'the first of next month, UTC';
  // A single user must not learn the sum of all users of the tenant.
  const detail = of === 'user' ? { of, period, limitUsd } : { of, period };
  const text = `The budget of ${whose} for this ${period} is spent. New answers are possible from ${from}.`;
  return new HelixError('budget_exceeded', text, { detail });
}

/**
 * Returns the notice of a spent budget: one for each budget and day or month, however many processes
 * see it. Pure.
 *
 * @param window the day or month, ISO 8601
 */
function toSpendNotice({ owner, tenant }: SessionOwner, spent: Spent, window: string): Notice {
  const { of, period, limitUsd, usedUsd } = spent;
  const whose = of === 'user' ? owner : undefined;
  return {
    id: toNoticeId(JSON.stringify(['spend.exceeded', tenant, whose, window])),
    type: 'spend.exceeded',
    at: Date.now(),
    period,
    limitUsd,
    usedUsd,
    ...(tenant !== undefined && { tenant }),
    ...(whose !== undefined && { owner: whose }),
  };
}

/** Returns the agents whose model calls no budget counts, except those made by a factory. */
export function unpricedAgents(agents: AgentRegistry): string[] {
  return agents.getRegisteredTypes().filter((name) => {
    if (agents.isMade(name)) return false;
    const agent = agents.get(name);
    return agent !== undefined && !hasPrices(agent);
  });
}

/** Logs unpriced agents when a process with budgets starts. */
export function warnOfUnpriced({ agents, logger }: Pick<RunsHost, 'agents' | 'logger'>): void {
  const unpriced = unpricedAgents(agents);
  if (unpriced.length === 0) return;
  logger.warn({ agents: unpriced }, 'budgets do not count agents without llmConfig.pricing');
}

function hasPrices({ llmConfig: { pricing, models = [] } }: AgentDefinition): boolean {
  if (pricing !== undefined) return true;
  return models.length > 0 && models.every((choice) => choice.pricing !== undefined);
}
