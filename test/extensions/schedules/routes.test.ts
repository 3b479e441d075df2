import { AgentRegistry } from '../../../agents/index.js';
import { toStoredSessionId } from '../../../ai-sdk/index.js';
import { HelixError } from '../../../protocol/errors.js';
import { schedules } from '../../../extensions/schedules/index.js';
import type { Schedules } from '../../../extensions/schedules/schedules.js';
import type { ScheduleInput } from '../../../protocol/schedules.js';
import { createMemoryStores, type MemoryStores } from '../../../store/memory/index.js';
import { drive } from '../../support/session-driver.js';
import { startOnMemory, type ApiServer } from '../../api/api-server.js';
import { FAKE_SCHEDULES, withSchedules } from './fake-schedules.js';
import { fakeAgent } from '../../support/fake-agent.js';

const PATH = '/api/operator/schedules';
const BODY = { name: 'daily', agent: 'tester', message: 'hi', owner: 'ann', cron: '0 7 * * 1-5' };
const USER = { 'x-user': 'col' };

let stores: MemoryStores;
let api: ApiServer;
let created: ScheduleInput[];
let deletedOf: string[];
let triggered: unknown[][];
let isAway: boolean;

beforeEach(async () => {
  [created, deletedOf, triggered, isAway] = [[], [], [], false];
  stores = createMemoryStores();
  const agents = new AgentRegistry(
    (['tester', 'hidden'] as const).map((name) =>
      fakeAgent(name, 'scripted', { public: name === 'tester' }),
    ),
  );
  const fake: Schedules = {
    ...FAKE_SCHEDULES,
    create: async (input) => {
      created.push(input);
      return FAKE_SCHEDULES.create(input);
    },
    trigger: async (...of) => void triggered.push(of),
    deleteOf: async (_, owner) => {
      if (isAway) throw new HelixError('unavailable', 'away');
      deletedOf.push(owner);
      return Promise.resolve([]);
    },
  };
  api = await startOnMemory({
    stores,
    agents,
    extensions: withSchedules(fake),
    runs: { extensions: [schedules(() => fake)] },
    authenticate: (request) => ({
      userId: request.get('x-user') ?? '',
      personId: 'p-col',
      tenantId: 'acme',
      roles: ['operator'],
    }),
  });
});

async function create(body: object): Promise<unknown[]> {
  const response = await api.post(PATH, body, USER);
  const { code } = (await response.json()) as { code?: string };
  return [response.status, code];
}

it('is of the tenant and by the caller, whatever the body says, and noted', async () => {
  const lies = { tenant: 'other', by: 'ann', tenantId: 'other' };
  expect(await create({ ...BODY, ...lies, owner: undefined })).toEqual([201, undefined]);
  const who = { by: 'col', personId: 'p-col' };
  const one = { ...who, tenant: 'acme', owner: 'col', timeZone: 'UTC', overlap: 'skip' };
  expect(created).toMatchObject([{ ...one, whenBusy: 'skip' }]);
  expect((await api.post(`${PATH}/daily/trigger`, {}, USER)).status).toBe(202);
  expect(triggered).toEqual([['acme', 'daily', who]]);
  await api.post(`${PATH}/daily/pause`, { reason: 'why' }, USER);
  const { entries } = await stores.store.audit.page('acme', { limit: 9, action: 'schedule' });
  expect(entries.map(({ entry, name }) => [name, entry.detail])).toEqual([
    ['col', { what: 'pauseSchedule', schedule: 'daily', agent: 'tester' }],
    ['col', { what: 'triggerSchedule', schedule: 'daily', agent: 'tester' }],
    ['col', { what: 'createSchedule', schedule: 'daily', agent: 'tester' }],
  ]);
});

it.each([
  ['seconds', { cron: '* * * * * *' }],
  ['seconds in words', { cron: '@every 1s' }],
  ['a time zone in the times', { cron: 'CRON_TZ=UTC 0 0 * * *' }],
  ['a short interval', { cron: undefined, everyMs: 59_999 }],
  ['both', { everyMs: 60_000 }],
  ['neither', { cron: undefined }],
  ['a name with a full stop', { name: 'a.b' }],
  ['firings that would gather', { overlap: 'allow_all', whenBusy: 'wait' }],
  ['a long message', { message: 'é'.repeat(17_000) }],
])('with %s is refused', async (_, wrong) => {
  expect(await create({ ...BODY, ...wrong })).toEqual([400, 'validation_error']);
  expect(created).toEqual([]);
});

it('is of an agent that people may talk to', async () => {
  for (const agent of ['hidden', 'unknown']) {
    expect(await create({ ...BODY, agent })).toEqual([400, 'agent_not_found']);
  }
});

it("continues a conversation of its owner's, not of another person", async () => {
  await drive(stores, toStoredSessionId('mine', 'acme')).begin({ owner: 'ann', tenant: 'acme' });
  expect(await create({ ...BODY, sessionId: 'mine' })).toEqual([201, undefined]);
  const eve = { ...BODY, owner: 'eve', sessionId: 'mine' };
  expect(await create(eve)).toEqual([404, 'not_found']);
  expect(created).toHaveLength(1);
});

it('is deleted with its owner; while Temporal is away the person is not erased completely', async () => {
  const erase = async (): Promise<unknown> => {
    const response = await fetch(`${api.url}/api/operator/users/ann`, {
      method: 'DELETE',
      headers: USER,
    });
    return [response.status, ((await response.json()) as { complete?: boolean }).complete];
  };
  isAway = true;
  expect(await erase()).toEqual([202, false]);
  isAway = false;
  expect(await erase()).toEqual([200, true]);
  expect(deletedOf).toEqual(['ann']);
});
