import { budgetsOfSettings, limits, unpricedAgents } from '../../../extensions/limits/index.js';
import { AgentRegistry, type AgentDefinition } from '../../../agents/index.js';
import { toStoredSessionId } from '../../../ai-sdk/index.js';
import { sharesOf, type Budgets } from '../../../extensions/limits/budgets.js';
import type { Deliveries } from '../../../runs/deliveries.js';
import type { Runs } from '../../../runs/runs.js';
import type { Notice } from '../../../protocol/notices.js';
import { createMemoryStores, type MemoryStores } from '../../../store/memory/index.js';
import { drive, newSessionId, userMessage } from '../../support/session-driver.js';
import { createTestAgent } from '../../support/test-agent.js';
import { until, untilDayLasts } from '../../support/until.js';
import { createIdleRuns } from '../../support/idle-workflows.js';

const { agent } = createTestAgent();
const pricing = { inputPerMTok: 1, outputPerMTok: 1 };
const priced: AgentDefinition = { ...agent, llmConfig: { ...agent.llmConfig, pricing } };
const ann = { owner: 'ann', tenant: 'acme' };
let stores: MemoryStores;
let lines: object[];
let events: object[];
beforeEach(async () => {
  await untilDayLasts();
  stores = createMemoryStores();
  lines = [];
  events = [];
});

function executorWith(
  budgets: Budgets,
  announce?: Deliveries['announce'],
  agents = [priced],
): Runs {
  return createIdleRuns(stores, {
    agents,
    extensions: [
      limits({ quotas: 'unlimited', budgets }),
      ...(announce === undefined
        ? []
        : [{ name: 'receivers', deliveries: () => ({ announce }) as Deliveries }]),
    ],
    meter: (event) => {
      if (event.kind === 'budget_spent') events.push(event);
    },
    logger: { warn: (fields) => void lines.push(fields) },
  });
}

const say = (runs: Runs, sessionId = newSessionId(), id = 'u1', owner = ann.owner) =>
  runs.execute({
    sessionId,
    agent: agent.name,
    owner,
    tenant: ann.tenant,
    messages: [userMessage(id, 'hello')],
  });

/** Stores a run of this cost for the user. */
async function spend(usd: number, owner = ann.owner): Promise<void> {
  const session = drive({ store: stores.store, stream: stores.streamManager } as never);
  const begun = await session.newRun({ ...ann, owner });
  const writer = session.writer(begun.runId, 1, 1);
  await session.claim(writer);
  const usage = { inputTokens: 1, outputTokens: 1, costMicroUsd: usd * 1_000_000 };
  await session.commit(writer, { usage });
  await stores.store.owners.fold(session.id);
}

const refused = (detail: object): object => ({ code: 'budget_exceeded', statusCode: 402, detail });

describe('budgets', () => {
  it('receivers are notified of a budget that is spent, under one id, and again if Temporal was away', async () => {
    const notices: Notice[] = [];
    let isAway = true;
    const announce = async (notice: Notice): Promise<void> => {
      if (isAway) throw new Error('away');
      notices.push(notice);
    };
    const budgets: Budgets = { user: { dayUsd: 1 }, tenant: { monthUsd: 1 } };
    const [one, two] = [executorWith(budgets, announce), executorWith(budgets, announce)];
    await spend(1);
    await expect(say(one)).rejects.toMatchObject({ code: 'budget_exceeded' });
    isAway = false;
    for (const runs of [one, one, two]) {
      await expect(say(runs)).rejects.toMatchObject({ code: 'budget_exceeded' });
    }
    const ofUser = {
      type: 'spend.exceeded',
      tenant: 'acme',
      owner: 'ann',
      period: 'day',
      usedUsd: 1,
      at: expect.any(Number) as unknown,
    };
    expect(notices.filter(({ owner }) => owner === 'ann')).toMatchObject([ofUser, ofUser]);
    expect(notices.filter(({ owner }) => owner === undefined)).toMatchObject([
      { tenant: 'acme', period: 'month', limitUsd: 1 },
      { period: 'month' },
    ]);
    expect(new Set(notices.map(({ id }) => id)).size).toBe(2);
  });

  it.each<[string, Budgets, { of: string; period: string; limitUsd?: number }]>([
    ['a user, day', { user: { dayUsd: 1 } }, { of: 'user', period: 'day', limitUsd: 1 }],
    ['a user, month', { user: { monthUsd: 1 } }, { of: 'user', period: 'month', limitUsd: 1 }],
    ['a tenant', { tenant: { dayUsd: 1 } }, { of: 'tenant', period: 'day' }],
  ])('no run begins once the budget of %s is spent', async (_, budgets, detail) => {
    const runs = executorWith(budgets);
    expect(await say(runs)).toMatchObject({ kind: 'begun' });
    await spend(1);
    const error = await say(runs).catch((reason: unknown) => reason as { detail?: object });
    const whose = detail.of === 'tenant' ? 'your organisation' : 'you';
    const from = detail.period === 'day' ? 'midnight UTC' : 'the first of next month, UTC';
    const message = `The budget of ${whose} for this ${detail.period} is spent. New answers are possible from ${from}.`;
    expect(error).toMatchObject({ ...refused(detail), message });
    // The detail holds no more: users may not learn their tenant's budget.
    expect(Object.keys('detail' in error ? (error.detail ?? {}) : {})).toEqual(Object.keys(detail));
  });

  it('a refusal is for the month if that is spent as well as the day, of which more is', async () => {
    const runs = executorWith({ user: { dayUsd: 1, monthUsd: 3 }, tenant: { dayUsd: 1 } });
    await spend(2);
    await expect(say(runs)).rejects.toMatchObject({ detail: { period: 'day' } });
    await spend(1);
    await expect(say(runs)).rejects.toMatchObject({ detail: { of: 'user', period: 'month' } });
  });

  it('a copy costs nothing, and is made beyond a budget as well', async () => {
    const runs = executorWith({ user: { dayUsd: 1 } });
    const sessionId = toStoredSessionId(newSessionId(), ann.tenant);
    const said = await say(runs, sessionId);
    await drive(stores, sessionId).end(said.kind === 'begun' ? said.run.runId : '', 'completed');
    await spend(2);
    expect(await runs.branch({ sessionId, by: ann.owner })).toMatchObject({});
    await expect(say(runs, sessionId, 'u2')).rejects.toMatchObject({ code: 'budget_exceeded' });
  });

  it('the budget of one user does not stop a colleague', async () => {
    const runs = executorWith({ user: { dayUsd: 1 } });
    await spend(2);
    expect(await say(runs, newSessionId(), 'u1', 'bob')).toMatchObject({ kind: 'begun' });
  });

  it('with the action warn runs begin, and it is logged once for each user', async () => {
    const runs = executorWith({ user: { dayUsd: 1 }, action: 'warn' });
    await spend(2);
    await say(runs);
    await say(runs);
    expect(lines).toEqual([expect.objectContaining({ owner: 'ann', period: 'day', usedUsd: 2 })]);
    expect(events).toEqual([{ kind: 'budget_spent', of: 'user', period: 'day' }]);
    await spend(2, 'bob');
    await say(runs, newSessionId(), 'u1', 'bob');
    expect(lines).toMatchObject([{ owner: 'ann' }, { owner: 'bob' }]);
  });

  it('a budget is logged again once it is spent, and each of two budgets for itself', async () => {
    const runs = executorWith({ user: { dayUsd: 1 }, tenant: { dayUsd: 1 }, action: 'warn' });
    for (const usd of [0.9, 0.2]) {
      await spend(usd);
      await say(runs, newSessionId());
    }
    const logged = (lines as { of: string; usedUsd: number }[]).map(({ of, usedUsd }) => [
      of,
      usedUsd,
    ]);
    expect(logged).toEqual([
      ['user', 0.9],
      ['tenant', 0.9],
      ['user', 1.1],
      ['tenant', 1.1],
    ]);
  });

  it('the budget of a day is logged each day, and that of a month once, not each day', async () => {
    const budgets = { user: { dayUsd: 1, monthUsd: 1 }, action: 'warn' } as const;
    const runs = executorWith(budgets);
    const now = jest.spyOn(Date.prototype, 'toISOString');
    jest.spyOn(stores.store.usage, 'spent').mockResolvedValue({
      user: { day: 2_000_000, month: 2_000_000 },
      tenant: { day: 0, month: 0 },
    });
    for (const day of ['2026-01-10', '2026-01-11', '2026-02-11']) {
      now.mockReturnValue(`${day}T12:00:00.000Z`);
      await say(runs);
    }
    const periods = ['day', 'month', 'day', 'day', 'month'];
    expect(lines).toMatchObject(periods.map((period) => ({ owner: 'ann', period })));
  });

  it('sums of a day that ends while they are read leave the next day its own notice', async () => {
    const runs = executorWith({ user: { dayUsd: 1 }, action: 'warn' });
    const now = jest.spyOn(Date.prototype, 'toISOString');
    const spent = { user: { day: 2_000_000, month: 0 }, tenant: { day: 0, month: 0 } };
    jest.spyOn(stores.store.usage, 'spent').mockImplementation(async () => {
      now.mockReturnValue('2026-12-01T00:00:00.000Z');
      return spent;
    });
    now.mockReturnValue('2026-11-30T23:59:59.999Z');
    await say(runs);
    await say(runs);
    expect(lines).toHaveLength(2);
  });

  it('four fifths of a budget are logged before it is spent', async () => {
    const runs = executorWith({ user: { monthUsd: 1 } });
    await spend(0.79);
    await say(runs);
    expect(lines).toEqual([]);
    await spend(0.02);
    await until('it is logged', async () => {
      await say(runs);
      return lines.length === 1;
    });
    expect(events).toEqual([]);
  });

  it('agents without prices are named once, since no budget counts what they cost', () => {
    executorWith({ user: { dayUsd: 1 } }, undefined, [agent]);
    expect(lines).toEqual([{ agents: [agent.name] }]);
    const withModels = (...models: object[]) =>
      ({ ...agent, llmConfig: { ...agent.llmConfig, models } }) as AgentDefinition;
    const unpricedOf = (each: AgentDefinition) => unpricedAgents(new AgentRegistry([each]));
    expect(unpricedOf(withModels())).toEqual([agent.name]);
    expect(unpricedOf(withModels({ pricing }, {}))).toEqual([agent.name]);
    expect(unpricedOf(withModels({ pricing }, { pricing }))).toEqual([]);
  });

  it('budgets are those that are set, and refuse unless told to warn', () => {
    expect(budgetsOfSettings({ BUDGET_ACTION: 'warn' })).toBeUndefined();
    const user = { dayUsd: 1, monthUsd: 2 };
    const ofUser = { BUDGET_USER_DAY_USD: 1, BUDGET_USER_MONTH_USD: 2 };
    const all = budgetsOfSettings({ ...ofUser, BUDGET_TENANT_DAY_USD: 3 });
    expect(all).toEqual({ user, tenant: { dayUsd: 3 }, action: 'refuse' });
    const one = budgetsOfSettings({ BUDGET_TENANT_MONTH_USD: 4, BUDGET_ACTION: 'warn' });
    expect(one).toEqual({ user: {}, tenant: { monthUsd: 4 }, action: 'warn' });
  });

  it('the budget of which most is spent comes first, one of nothing is spent from the beginning', () => {
    const spent = { user: { day: 1, month: 2_000_000 }, tenant: { day: 0, month: 5 } };
    const budgets = { user: { dayUsd: 1, monthUsd: 2 }, tenant: { dayUsd: 0, monthUsd: 100 } };
    expect(sharesOf(budgets, spent).map(({ of, period }) => `${of} ${period}`)).toEqual([
      'tenant day',
      'user month',
      'user day',
      'tenant month',
    ]);
  });
});
