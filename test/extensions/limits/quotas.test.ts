import { parseEnv } from '../../../config/env.js';
import { createSweep, createRepair } from '../../../runs/sweep.js';
import type { Runs } from '../../../runs/runs.js';
import { limits, limitsOfSettings, toQuotas } from '../../../extensions/limits/index.js';
import { createQuotasOf, readQuotas } from '../../../extensions/limits/quotas.js';
import type { OwnerCounts } from '../../../store/contract/owners.js';
import type { BeginResult } from '../../../store/contract/runs.js';
import { createMemoryStores, type MemoryStores } from '../../../store/memory/index.js';
import { drive, newCall, newSessionId, userMessage } from '../../support/session-driver.js';
import { createTestAgent } from '../../support/test-agent.js';
import { until } from '../../support/until.js';
import { createIdleRuns, IDLE_WORKFLOWS } from '../../support/idle-workflows.js';

const { agent } = createTestAgent();
let stores: MemoryStores;
beforeEach(() => {
  stores = createMemoryStores();
});

function executorWith(user: Partial<OwnerCounts>, tenantFactor?: number): Runs {
  const extensions = [limits({ quotas: toQuotas(user, tenantFactor) })];
  return createIdleRuns(stores, { agents: [agent], extensions });
}

it('a limit that is no number is refused at the start, since nothing compares with it', () => {
  const wrong = (options: object) => () => limits(options);
  expect(wrong({ quotas: toQuotas({ runs: Number(undefined) }) })).toThrow(
    'quotas.user.runs must be a number from 0, not NaN; quotas.tenant.runs',
  );
  expect(wrong({ quotas: { runs: 5 } })).toThrow('quotas.user is missing');
  expect(wrong({ budgets: { user: { dayUsd: '5' } } })).toThrow('budgets.user.dayUsd must be');
  expect(wrong({ budgets: { tenant: { monthUsd: -1 }, action: 'stop' } })).toThrow(
    'budgets.action',
  );
  const budgets = { user: { dayUsd: undefined }, action: 'refuse' } as const;
  limits({ quotas: toQuotas({ runs: Infinity, queued: 0 }), budgets });
});

interface Message {
  sessionId?: string;
  owner?: string;
  tenant?: string;
  policy?: 'queue';
  id?: string;
  text?: string;
}

function say(
  executor: Runs,
  { sessionId = newSessionId(), owner = 'ann', id = 'u1', text = 'hello', ...more }: Message = {},
): Promise<BeginResult> {
  const messages = [userMessage(id, text)];
  return executor.execute({ sessionId, agent: agent.name, owner, messages, ...more });
}

const exceeded = (what: keyof OwnerCounts, more: object = {}): object => ({
  code: 'quota_exceeded',
  statusCode: 429,
  detail: expect.objectContaining({ what, ...more }),
});

describe('what a user may have', () => {
  it('a user may have a number of active runs, and another when one has ended', async () => {
    const executor = executorWith({ runs: 2 });
    const first = newSessionId();
    const begun = await say(executor, { sessionId: first });
    await say(executor);
    const refusal = say(executor);
    await expect(refusal).rejects.toMatchObject(
      exceeded('runs', { of: 'user', limit: 2, used: 2 }),
    );
    await expect(refusal).rejects.toThrow(
      /^2 answers are being written at once, as many as may be/,
    );
    expect(await say(executor, { owner: 'bob' })).toMatchObject({ kind: 'begun' });
    if (begun.kind === 'begun') await drive(stores, first).end(begun.run.runId, 'completed');
    expect(await say(executor)).toMatchObject({ kind: 'begun' });
  });

  it('a transcript that was made elsewhere counts as well', async () => {
    const executor = executorWith({ bytes: 3_000 });
    const adopt = (length: number) => {
      const { row } = userMessage('u1', 'x'.repeat(length));
      const whose = { sessionId: newSessionId(), agent: agent.name, owner: 'ann' };
      return executor.adopt({ ...whose, rows: [row] });
    };
    await expect(adopt(4_000)).rejects.toMatchObject(exceeded('bytes'));
    expect(await adopt(1_000)).toBe(true);
  });

  it('a user may have a number of queued messages over all conversations', async () => {
    const executor = executorWith({ queued: 2 });
    const [one, two] = [newSessionId(), newSessionId()];
    await say(executor, { sessionId: one });
    await say(executor, { sessionId: two });
    const later = (sessionId: string, id: string): Promise<BeginResult> =>
      say(executor, { sessionId, id, policy: 'queue' });
    expect(await later(one, 'u2')).toMatchObject({ kind: 'queued' });
    expect(await later(two, 'u2')).toMatchObject({ kind: 'queued' });
    await expect(later(one, 'u3')).rejects.toMatchObject(exceeded('queued'));
    await stores.store.queue.remove({ sessionId: two, now: Date.now() });
    await stores.store.owners.fold(two);
    expect(await later(one, 'u3')).toMatchObject({ kind: 'queued' });
  });

  it('a user may have a number of conversations, and an erased one makes room', async () => {
    const executor = executorWith({ sessions: 1 });
    const sessionId = newSessionId();
    await say(executor, { sessionId });
    await expect(say(executor)).rejects.toMatchObject(exceeded('sessions'));
    await executor.deleteSession(sessionId);
    expect(await say(executor)).toMatchObject({ kind: 'begun' });
  });

  it('a user may store a number of bytes, copies included', async () => {
    const executor = executorWith({ bytes: 25_000 });
    const sessionId = newSessionId();
    const begun = await say(executor, { sessionId, text: 'x'.repeat(10_000) });
    if (begun.kind === 'begun') await drive(stores, sessionId).end(begun.run.runId, 'completed');
    await executor.branch({ sessionId });
    const refusal = executor.branch({ sessionId });
    await expect(refusal).rejects.toMatchObject(exceeded('bytes'));
    await expect(refusal).rejects.toThrow('The conversations hold 0 MB, as much as may be.');
    await expect(say(executor, { text: 'y'.repeat(10_000) })).rejects.toMatchObject(
      exceeded('bytes'),
    );
    expect(await say(executor, { text: 'small' })).toMatchObject({ kind: 'begun' });
  });

  it('an edit that a quota refuses stops no reply', async () => {
    const executor = executorWith({ bytes: 3_000 });
    const sessionId = newSessionId();
    const begun = await say(executor, { sessionId });
    const stops = begun.kind === 'begun' ? begun.run.runId : '';
    const edit = (length: number) => {
      const messages = [userMessage('u1', 'x'.repeat(length))];
      return executor.retry({ sessionId, messageId: 'u1', messages, stops });
    };
    await expect(edit(4_000)).rejects.toMatchObject(exceeded('bytes'));
    expect(await stores.store.sessions.read(sessionId)).toMatchObject({ status: 'starting' });
    expect(await edit(1_000)).toMatchObject({ turn: 1 });
    expect(await stores.store.sessions.rows(sessionId, 0)).toMatchObject([
      { parts: [{ text: 'x'.repeat(1_000) }] },
    ]);
    expect(await stores.store.runs.list(sessionId)).toMatchObject([
      { status: 'interrupted', reason: 'superseded' },
      { status: 'starting' },
    ]);
  });

  it('the slot of a run is free again when the run is stopped or lost', async () => {
    const executor = executorWith({ runs: 1 });
    const sessionId = newSessionId();
    await say(executor, { sessionId });
    await executor.stop(sessionId, { mode: 'abort' });
    await executor.endLost((await stores.store.sessions.read(sessionId)) as never);
    await until('it is charged', async () => {
      const { runs } = await stores.store.owners.usage({ owner: 'ann' });
      return runs === 0;
    });
  });
});

describe('what was not charged when a run ended, since its process died', () => {
  const logger = { warn: () => undefined };
  const runsOf = async (owner: string) => (await stores.store.owners.usage({ owner })).runs;

  async function endUnnoticed(executor: Runs): Promise<string> {
    const sessionId = newSessionId();
    const begun = await say(executor, { sessionId });
    await executor.idle();
    if (begun.kind === 'begun') await drive(stores, sessionId).end(begun.run.runId, 'completed');
    expect(await runsOf('ann')).toBe(1);
    return sessionId;
  }

  it('the sweep that finds a conversation at rest charges what its dead process did not', async () => {
    const executor = executorWith({});
    const store = { ...stores.store, due: stores.store.due.of(IDLE_WORKFLOWS.fleet) };
    await store.due.note(await endUnnoticed(executor), -1);
    await createSweep({ store, runs: executor, holder: 'x', logger })();
    expect(await runsOf('ann')).toBe(0);
  });

  it('the sweep that finds a conversation waiting for people frees the slot of its run', async () => {
    const store = { ...stores.store, due: stores.store.due.of(IDLE_WORKFLOWS.fleet) };
    const executor = executorWith({});
    const sessionId = newSessionId();
    const begun = await say(executor, { sessionId });
    if (begun.kind !== 'begun') throw new Error(`it was ${begun.kind}`);
    await executor.idle();
    await drive(stores, sessionId).ask(begun.run.runId, 1, [newCall('c1', 'approval')]);
    expect(await runsOf('ann')).toBe(1);
    await store.due.note(sessionId, -1);
    await createSweep({ store, runs: executor, holder: 'x', logger })();
    expect(await runsOf('ann')).toBe(0);
  });

  it('the hourly repair charges each owner for conversations whose process died', async () => {
    let ahead = 0;
    stores = createMemoryStores({ now: () => Date.now() + ahead });
    await endUnnoticed(executorWith({}));
    const repair = createRepair(stores.store.owners, logger);
    repair();
    expect(await stores.store.owners.take(1, 1)).toEqual([]);
    ahead = 61 * 60 * 1000;
    await until('it is charged', async () => {
      repair();
      return (await runsOf('ann')) === 0;
    });
    expect(await stores.store.owners.take(1, 1)).toEqual([]);
  });
});

describe('what a tenant may have', () =>
  it("a tenant may have a multiple of a user's quota, whichever of its users asks", async () => {
    const executor = executorWith({ runs: 1 }, 2);
    await say(executor, { owner: 'ann', tenant: 'acme' });
    await say(executor, { owner: 'bob', tenant: 'acme' });
    const refusal = say(executor, { owner: 'cem', tenant: 'acme' });
    await expect(refusal).rejects.toMatchObject(exceeded('runs', { of: 'tenant', limit: 2 }));
    await expect(refusal).rejects.toThrow('In your organisation: 2 answers are being written');
    expect(await say(executor, { owner: 'cem', tenant: 'other' })).toMatchObject({ kind: 'begun' });
    expect(await say(executor, { owner: 'cem' })).toMatchObject({ kind: 'begun' });
  }));

const quotasOf = (env: Record<string, string>, isOpen: boolean) =>
  readQuotas(parseEnv(env), { isOpen });

describe('quotas from the settings', () => {
  it('the default is 20 runs, 10 queued messages, 1,000 conversations and 256 MB per user, 50 times that per tenant', () =>
    expect(quotasOf({}, false)).toEqual({
      user: { runs: 20, queued: 10, sessions: 1_000, bytes: 256 * 1024 * 1024 },
      tenant: { runs: 1_000, queued: 500, sessions: 50_000, bytes: 50 * 256 * 1024 * 1024 },
    }));

  it('only an open server that no other machine reaches is unlimited', () => {
    expect(quotasOf({}, true)).toBe('unlimited');
    expect(quotasOf({ HOST: '0.0.0.0' }, true)).toEqual(toQuotas());
    expect(quotasOf({ HOST: '127.0.0.1' }, false)).toEqual(toQuotas());
    expect(quotasOf({ QUOTA_RUNS: '3' }, true)).toEqual(toQuotas({ runs: 3 }));
  });

  it('a worker has the limits that are set alone, an API those of its sign-in', () => {
    const [HOST, user] = ['127.0.0.1', { dayUsd: 1 }];
    const set = limitsOfSettings({ HOST, QUOTA_RUNS: 3, BUDGET_USER_DAY_USD: 1 });
    const budgets = { user, tenant: {}, action: 'refuse' };
    expect(set).toEqual({ quotas: toQuotas({ runs: 3 }), budgets });
    expect(limitsOfSettings({ HOST })).toEqual({});
    const ofApi = (isOpen: boolean) => limitsOfSettings({ HOST }, { isOpen }).quotas;
    expect([true, false].map(ofApi)).toEqual(['unlimited', toQuotas()]);
  });

  it('settings replace the default quotas', () => {
    const env = { QUOTA_MB: '2', QUOTA_QUEUED: '3', QUOTA_SESSIONS: '4', QUOTA_TENANT_FACTOR: '5' };
    const user = { bytes: 2 * 1024 * 1024, queued: 3, sessions: 4 };
    expect(quotasOf(env, false)).toEqual(toQuotas(user, 5));
  });
});

const ann = { owner: 'ann' };
const unnamed = { owner: 'anonymous' };

it('a user who is named has the usual quotas, a program that names none has no limit', () => {
  const quotasOf = createQuotasOf(undefined);
  expect(quotasOf(ann)).toEqual(toQuotas());
  expect(quotasOf(unnamed)).toBeUndefined();
  expect(quotasOf({ ...unnamed, tenant: 'acme' })).toEqual(toQuotas());
});

it('configured quotas apply to every user', () => {
  const few = toQuotas({ runs: 1 });
  expect([ann, unnamed].map(createQuotasOf(few))).toEqual([few, few]);
  expect(createQuotasOf('unlimited')(ann)).toBeUndefined();
});
