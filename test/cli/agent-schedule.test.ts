import { OperatorScheduleBody } from '../../protocol/schedules.js';
import { runRecorded } from './fake-cli.js';

const SCHEDULE = {
  name: 'daily',
  agent: 'tester',
  owner: 'ann',
  cron: '@daily',
  timeZone: 'UTC',
  by: 'ann',
  overlap: 'skip',
  whenBusy: 'skip',
  isPaused: true,
  note: 'why',
  createdAt: 1,
  next: [2],
};
const FIRING = { at: 0, workflowId: 'w', status: 'refused', code: 'agent_not_found' };
const FOUND = { ...SCHEDULE, message: 'hi', counts: { fired: 7, skipped: 0, missed: 0 } };

const runAgent = (...args: string[]): ReturnType<typeof runRecorded> =>
  runRecorded(['agent', ...args], {
    get: { ...FOUND, firings: [FIRING] },
    post: { ...SCHEDULE, result: 'paused', runId: 'r1' },
    delete: {},
  });

const run = (...args: string[]): ReturnType<typeof runAgent> => runAgent('schedule', ...args);

it.each([
  ['in a while', '2h', 'r1 begins at 1970-01-01T02:00:00.000Z.'],
  ['at a time that has passed', '1969-12-31T23:00:00Z', 'r1 has begun.'],
])('a start %s says when the run begins', async (_, at, text) => {
  expect((await runAgent('start', 'tester', 'hi', '--at', at)).printed).toBe(text);
});

it('what is created is what the API takes', async () => {
  const options = ['--every', '2h', '--session', 's1', '--owner', 'ann', '--overlap', 'buffer_one'];
  const { asked } = await run('create', 'daily', 'tester', 'hi', ...options, '--when-busy', 'wait');
  const [[, path, body] = []] = asked;
  expect(path).toBe('/api/operator/schedules');
  expect(OperatorScheduleBody.parse(body)).toEqual({
    name: 'daily',
    agent: 'tester',
    message: 'hi',
    everyMs: 7_200_000,
    timeZone: 'UTC',
    sessionId: 's1',
    owner: 'ann',
    overlap: 'buffer_one',
    whenBusy: 'wait',
    isPaused: false,
  });
});

it('one is described with its firings', async () => {
  const { printed } = await run('describe', 'daily');
  for (const part of ['why', '@daily UTC', '7', '1970-01-01T00:00:00.000Z  refused  agent_not']) {
    expect(printed).toContain(part);
  }
});
