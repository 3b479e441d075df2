import { randomBytes, randomUUID } from 'node:crypto';
import { Client, ScheduleNotFoundError } from '@temporalio/client';
import { codec, createPayloadCodec } from '../../../extensions/codec/index.js';
import { createSchedules, type Schedules } from '../../../extensions/schedules/schedules.js';
import { findSession } from '../../../ai-sdk/reply/access.js';
import { scheduleIdOf, workflowIdOf } from '../../../protocol/ids.js';
import type { ScheduledRun, ScheduleInput, Firing } from '../../../protocol/schedules.js';
import { withCodecs } from '../../../runs/extension.js';
import { toStoredSessionId } from '../../../store/record/stored-session-id.js';
import { fakeModel, parts } from '../../support/fake-model.js';
import { createGatedAgent } from '../../support/gated-agent.js';
import { useRuns } from '../../support/run-harness.js';
import { until } from '../../support/until.js';
import { fakeAgent } from '../../support/fake-agent.js';
import { fakeTool } from '../../support/fake-tool.js';

let schedules: Schedules;
const { agent: gated, open, reached } = createGatedAgent();
const pay = fakeTool('pay', () => 'paid', { requireApproval: true });
const asker = fakeAgent(
  'asker',
  fakeModel((_, { prompt }) =>
    JSON.stringify(prompt.at(-1)).includes('ask')
      ? parts.asks(parts.call('p1', 'pay', {}))
      : parts.says('fine'),
  ),
  { tools: [pay] },
);
const created: ScheduleInput[] = [];

const { runs, stores } = useRuns([gated, asker]);
beforeAll(() => {
  schedules = createSchedules(runs);
});
afterAll(() => Promise.all(created.map(({ tenant, name }) => schedules.delete(tenant, name))));

const some = (what: string): string => `${what}-${randomUUID().slice(0, 8)}`;

/** Creates a yearly schedule, so that only a trigger fires it. */
async function create(
  input: Partial<ScheduleInput> = {},
  by: Schedules = schedules,
): Promise<ScheduleInput> {
  const schedule = {
    name: some('s'),
    agent: gated.name,
    message: 'hello',
    owner: some('u'),
    tenant: some('t'),
    cron: '0 0 1 1 *',
    timeZone: 'UTC',
    overlap: 'skip',
    whenBusy: 'skip',
    by: 'olga',
    ...input,
  } satisfies ScheduleInput;
  await by.create(schedule);
  created.push(schedule);
  return schedule;
}

/** Waits for this many firings and returns the newest. */
function firings(
  { tenant, name }: Pick<ScheduleInput, 'tenant' | 'name'>,
  ...statuses: Firing['status'][]
): Promise<Firing[]> {
  return until(`the firings are ${statuses.join(', ')}`, async () => {
    const found = (await schedules.read(tenant, name))?.firings ?? [];
    return found.map(({ status }) => status).join() === statuses.join() && found;
  });
}

/** Reads a firing's conversation from the store. */
const stored = ({ owner, tenant }: ScheduleInput, sessionId = '') =>
  findSession(stores.store, sessionId, { userId: owner, tenantId: tenant });

const trigger = (
  { tenant, name }: Pick<ScheduleInput, 'tenant' | 'name'>,
  by?: string,
): Promise<void> => schedules.trigger(tenant, name, by);

describe('a firing', () => {
  it.concurrent(
    'is asked for by the one who triggered it, so that person cannot approve alone either',
    async () => {
      const schedule = await create({ overlap: 'allow_all' });
      await trigger(schedule, 'carl');
      const [firing] = await firings(schedule, 'completed');
      expect((await stored(schedule, firing?.sessionId)).record).toMatchObject({
        owner: schedule.owner,
        runBy: 'carl',
        askers: ['olga', 'carl'].map((userId) => ({ userId, tenantId: schedule.tenant })),
      });
      // Concurrent triggers lose none of the names.
      const others = ['dora', 'emil', 'olga', schedule.owner];
      await Promise.all(others.map((by) => trigger(schedule, by)));
      const id = scheduleIdOf(
        runs.taskQueue,
        toStoredSessionId('', schedule.tenant),
        schedule.name,
      );
      const { action, state, policies } = await runs.client.schedule.getHandle(id).describe();
      const [{ triggers = [] }] = action.args as [ScheduledRun];
      expect(triggers.map(({ by }) => by).sort()).toEqual(['carl', ...others].sort());
      expect(state.paused).toBe(false);
      // After an outage of days it begins no run for each of them.
      expect(policies.catchupWindow).toBe(600_000);
    },
  );

  it.concurrent(
    'is a run of the owner in a new conversation, of which no history has the reply',
    async () => {
      const schedule = await create();
      await trigger(schedule);
      const [firing] = await firings(schedule, 'completed');
      const { sessionId = '', runId = '', workflowId = '' } = firing ?? {};
      const { record } = await stored(schedule, sessionId);
      const { owner, tenant } = schedule;
      // The schedule's creator wrote the message and cannot alone approve what the run asks.
      expect(record).toMatchObject({ owner, tenant, runId, status: 'completed', runBy: 'olga' });
      const { raw } = await runs.client.workflow.getHandle(workflowIdOf(runId)).describe();
      const priority = { priorityKey: 4, fairnessKey: tenant };
      expect(raw.workflowExecutionInfo?.priority).toMatchObject(priority);
      const history = await runs.client.workflow.getHandle(workflowId).fetchHistory();
      const payloads = Buffer.concat(
        (history.events ?? []).flatMap(({ activityTaskCompletedEventAttributes: done }) =>
          (done?.result?.payloads ?? []).map(({ data }) => data ?? Buffer.of()),
        ),
      );
      expect(payloads.toString()).toContain(runId);
      expect(payloads.toString()).not.toContain('You said');
    },
  );

  it.concurrent("in another person's conversation is refused, and says so", async () => {
    const sessionId = runs.newSessionId();
    await runs.result(await runs.begin(sessionId, gated.name, 'mine'));
    const schedule = await create({ owner: 'eve', tenant: undefined, sessionId });
    await trigger(schedule);
    expect(await firings(schedule, 'refused')).toMatchObject([{ code: 'not_found' }]);
    expect(await stores.store.runs.list(sessionId)).toHaveLength(1);
  });

  it.concurrent('that finds its own conversation busy is skipped, or waits', async () => {
    const [sessionId, gate] = [some('c'), some('g')];
    const first = await create({ sessionId, message: `speak ${gate}` });
    const { owner, tenant } = first;
    await trigger(first);
    await reached(gate);
    const second = await create({ owner, tenant, sessionId, message: 'and now' });
    const third = await create({ owner, tenant, sessionId, whenBusy: 'wait' });
    await Promise.all([trigger(second), trigger(third)]);
    expect(await firings(second, 'skipped')).toMatchObject([{ code: 'agent_already_running' }]);
    await firings(third, 'running');
    open(gate);
    const [waited] = await firings(third, 'completed');
    expect(waited).toMatchObject({ sessionId });
    const { storedId } = await stored(first, sessionId);
    expect(await stores.store.runs.list(storedId)).toHaveLength(2);
  });

  it.concurrent(
    'withdraws the questions of a conversation that waits for people only if it may',
    async () => {
      const [owner, tenant, sessionId] = [some('u'), some('t'), some('c')];
      const first = await create({ owner, tenant, sessionId, agent: asker.name, message: 'ask' });
      await trigger(first);
      await until('it asks', async () => {
        const found = await stored(first, sessionId).catch(() => undefined);
        return found?.record?.status === 'waiting_approval';
      });
      const next = { owner, tenant, sessionId, agent: asker.name };
      const second = await create(next);
      await trigger(second);
      await firings(second, 'skipped');
      await firings(first, 'running');
      const third = await create({ ...next, whenBusy: 'abandon' });
      await trigger(third);
      await firings(third, 'completed');
      await firings(first, 'interrupted');
    },
  );

  it.concurrent('that overlaps the one before is skipped, or stops it', async () => {
    const message = `speak ${some('g')}`;
    const schedule = await create({ message });
    await trigger(schedule);
    await reached(message.slice('speak '.length));
    await trigger(schedule);
    const { tenant, name } = schedule;
    await until('one was skipped', async () => {
      return (await schedules.read(tenant, name))?.counts.skipped === 1;
    });
    const [held] = await firings(schedule, 'running');
    await runs.client.workflow.getHandle(held?.workflowId ?? '').cancel();
    await firings(schedule, 'stopped');

    const eager = await create({ overlap: 'cancel_other', message: `speak ${some('g')}` });
    await trigger(eager);
    await reached(eager.message.slice('speak '.length));
    await trigger(eager);
    const [, stopped] = await firings(eager, 'running', 'stopped');
    expect((await stored(eager, stopped?.sessionId)).record).toMatchObject({
      status: 'interrupted',
    });
    open(eager.message.slice('speak '.length));
    await firings(eager, 'completed', 'stopped');
  });

  it.concurrent('of an agent that is gone is refused, and says so', async () => {
    const schedule = await create({ agent: 'withdrawn' });
    await trigger(schedule);
    expect(await firings(schedule, 'refused')).toMatchObject([{ code: 'agent_not_found' }]);
  });
});

/** Schedules over a client that lists many of the tenant `t`, and describes what `describe` gives. */
function ofTenantT(describe: (all: object[]) => Promise<unknown>, length = 100): Schedules {
  const about = { tenant: 't', name: 'n' };
  const state = { paused: false };
  const info = { nextActionTimes: [], recentActions: [] };
  const all = Array.from({ length }, () => ({ memo: { about }, state, info, action: {} }));
  const client = {
    connection: { withDeadline: (_: number, work: () => Promise<unknown>) => work() },
    schedule: { list: () => all, getHandle: () => ({ describe: () => describe(all) }) },
  } as unknown as Client;
  return createSchedules({ client });
}

it.concurrent('of a tenant that has as many as it may is refused', async () => {
  const none = (): Promise<never> => Promise.reject(new ScheduleNotFoundError('', ''));
  const input = { name: 'm', agent: 'a', message: 'x', owner: 'o', by: 'o', timeZone: 'UTC' };
  const policies = { cron: '@daily', overlap: 'skip', whenBusy: 'skip' } as const;
  const created = ofTenantT(none).create({ ...input, ...policies, tenant: 't' });
  await expect(created).rejects.toMatchObject({ code: 'quota_exceeded' });
});

it.concurrent('whose memo names another tenant is not shown, whatever its id is', async () => {
  const found = ofTenantT((all) => Promise.resolve(all[0]), 101);
  expect(await found.read('t', 'n')).toMatchObject({ name: 'n' });
  expect(await found.read('u', 'n')).toBeUndefined();
  expect(await found.list('u')).toEqual([]);
  // Requests at once may create more than the limit, which are listed, too.
  expect(await found.list('t')).toHaveLength(101);
});

it.concurrent('stays for the next erasure until its firings are cancelled', async () => {
  const done: string[] = [];
  let isAway = true;
  let looks = 0;
  const firing = (workflowId: string) => ({ action: { workflow: { workflowId } } });
  const memo = { about: { tenant: 't', name: 'n', owner: 'o' } };
  const described = { memo, state: {}, info: { nextActionTimes: [] as Date[] } };
  const describe = () => {
    looks += 1;
    // The second firing begins between the looks of the attempt that succeeds.
    const recentActions = ['one', 'two'].slice(0, looks > 2 ? 2 : 1).map(firing);
    return Promise.resolve({ ...described, info: { recentActions } });
  };
  const act = async (name: string): Promise<void> => {
    if (isAway) throw new Error('away');
    done.push(name);
    return Promise.resolve();
  };
  const found = createSchedules({
    client: {
      connection: { withDeadline: (_: number, work: () => Promise<unknown>) => work() },
      schedule: {
        list: () => [described],
        getHandle: () => ({ describe, delete: () => Promise.resolve(done.push('deleted')) }),
      },
      workflow: { getHandle: (id: string) => ({ cancel: () => act(id) }) },
    } as unknown as Client,
  });
  await expect(found.deleteOf('t', 'o')).rejects.toThrow();
  expect(done).toEqual([]);
  isAway = false;
  expect(await found.deleteOf('t', 'o')).toEqual(['n']);
  expect(done).toEqual(['one', 'deleted', 'one', 'two']);
});

describe('a schedule', () => {
  it.concurrent(
    'is the same when it is created again, and no other of its name is created',
    async () => {
      const schedule = await create({ isPaused: true });
      const again = await schedules.create({ ...schedule, by: 'omar' });
      expect(again).toMatchObject({ by: 'olga', isPaused: true, cron: '0 0 1 1 *' });
      const other = schedules.create({ ...schedule, message: 'something else' });
      await expect(other).rejects.toMatchObject({ code: 'schedule_exists' });
    },
  );

  it.concurrent('is paused, resumed and triggered while it is paused', async () => {
    const schedule = await create();
    const { tenant, name } = schedule;
    await schedules.pause(tenant, name, 'holidays');
    const paused = await schedules.read(tenant, name);
    expect(paused).toMatchObject({ isPaused: true, note: 'holidays', message: 'hello' });
    await trigger(schedule);
    await firings(schedule, 'completed');
    await schedules.resume(tenant, name);
    expect(await schedules.read(tenant, name)).toMatchObject({ isPaused: false });
  });

  it.concurrent(
    'has no reason for its pause where payloads are encrypted, since notes are not',
    async () => {
      const { tenant, name } = await create();
      const { connection, options } = runs.client;
      const payloadCodecs = [createPayloadCodec([{ id: 'k', key: randomBytes(32) }])];
      const dataConverter = { payloadCodecs };
      const client = new Client({ connection, namespace: options.namespace, dataConverter });
      const sealed = createSchedules({ ...runs, client });
      await sealed.pause(tenant, name, 'ann is ill');
      expect(await schedules.read(tenant, name)).toMatchObject({ isPaused: true, note: 'paused' });
      const other = await create({}, sealed);
      const { payloadCodec } = codec();
      const plain = { connection, namespace: options.namespace };
      const keyless = new Client({ ...plain, dataConverter: withCodecs({}, [{ payloadCodec }]) });
      const without = createSchedules({ ...runs, client: keyless });
      await expect(without.read(other.tenant, other.name)).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(/"k" is not among the keys.*TEMPORAL_CODEC_KEYS/),
      });
      // Without keys this process stores notes as they are.
      await without.pause(tenant, name, 'ann is ill');
      expect(await without.read(tenant, name)).toMatchObject({ note: 'ann is ill' });
    },
  );

  it.concurrent('fires in its time zone', async () => {
    const { tenant, name } = await create({ cron: '30 7 * * *', timeZone: 'Asia/Tokyo' });
    const { next = [] } = (await schedules.read(tenant, name)) ?? {};
    expect(new Date(next[0] ?? 0).toISOString()).toMatch(/T22:30:00.000Z$/);
  });

  it.concurrent.each([
    [{ cron: '* * * * nope' }],
    [{ timeZone: 'Moon/Crater' }],
    [{ cron: undefined, everyMs: 1 }],
  ] as const)('is refused for %j', async (wrong) => {
    await expect(create(wrong)).rejects.toMatchObject({ code: 'validation_error' });
  });

  it.concurrent('of one tenant does not exist for another', async () => {
    const { tenant = '', name } = await create();
    for (const other of [some('t'), undefined, '']) {
      expect(await schedules.read(other, name)).toBeUndefined();
      expect(await schedules.delete(other, name)).toBe(false);
      for (const act of [schedules.pause, schedules.resume, schedules.trigger]) {
        await expect(act(other, name)).rejects.toMatchObject({ code: 'not_found' });
      }
      expect((await schedules.list(other)).map((each) => each.name)).not.toContain(name);
    }
    const mine = await until('it is listed', async () => {
      const listed = await schedules.list(tenant);
      return listed.length > 0 && listed;
    });
    expect(mine).toMatchObject([{ name, tenant, isPaused: false }]);
    expect(JSON.stringify(mine)).not.toContain('hello');
  });

  it.concurrent('goes with its person, as do its firings, and no other does', async () => {
    const [sessionId, gate] = [some('c'), some('g')];
    const first = await create({ sessionId, message: `speak ${gate}` });
    const { tenant, owner } = first;
    await trigger(first);
    await reached(gate);
    const second = await create({ tenant, owner, sessionId, whenBusy: 'wait' });
    await trigger(second);
    const [waiting] = await firings(second, 'running');
    const other = await create({ tenant });
    await until('all are listed', async () => (await schedules.list(tenant)).length === 3);
    const deleted = await schedules.deleteOf(tenant, owner);
    expect(deleted.sort()).toEqual([first.name, second.name].sort());
    for (const { name } of [first, second]) {
      expect(await schedules.read(tenant, name)).toBeUndefined();
    }
    expect(await schedules.read(tenant, other.name)).toBeDefined();
    const { client } = runs;
    const ended = client.workflow.getHandle(waiting?.workflowId ?? '').result();
    await expect(ended).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
  });
});
