import { MockActivityEnvironment } from '@temporalio/testing';
import { AgentRegistry } from '../../../agents/index.js';
import type { CalledRun, CalledRunRequest } from '../../../protocol/temporal.js';
import { HelixError } from '../../../protocol/errors.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { createCalledRunActivities } from '../../../extensions/called-runs/activities.js';
import { fakeAgent } from '../../support/fake-agent.js';

const agent = fakeAgent('tester', 'scripted');

/** Returns a try's error if the run refuses so; without `refusal`, the run is busy. */
async function refused(
  whenBusy: CalledRunRequest['whenBusy'],
  { refusal, attempt = 1 }: { refusal?: HelixError; attempt?: number } = {},
): Promise<unknown> {
  const prepare = () =>
    refusal === undefined ? Promise.resolve({ kind: 'busy' }) : Promise.reject(refusal);
  const { store } = createMemoryStores();
  const agents = new AgentRegistry([agent]);
  const activities = createCalledRunActivities({ store, agents, runs: { prepare } as never });
  const request = { agent: 'tester', message: 'hi', sessionId: 's1', messageId: 'm1', whenBusy };
  return new MockActivityEnvironment({ attempt })
    .run<[CalledRunRequest], CalledRun, typeof activities.beginAgentRun>(
      activities.beginAgentRun,
      request,
    )
    .catch((error: unknown) => error);
}

const quota = (what: string): HelixError =>
  new HelixError('quota_exceeded', 'no more', { detail: { what, of: 'user', limit: 1, used: 1 } });

it.each([
  [1, 2_000],
  [2, 4_000],
  [5, 32_000],
  [6, 60_000],
  [5_000, 60_000],
])('a caller that waits tries less and less often: after try %d in %d ms', async (attempt, ms) => {
  // Callers that began together try at different times.
  for (const share of [0, 1]) {
    jest.spyOn(Math, 'random').mockReturnValue(share);
    expect(await refused('wait', { attempt })).toMatchObject({
      type: 'agent_already_running',
      nonRetryable: false,
      nextRetryDelay: (ms * (1 + share)) / 2,
    });
  }
});

it.each([
  ['a quota of runs', quota('runs')],
  ['a budget', new HelixError('budget_exceeded', 'spent')],
])('%s refuses a caller that waits only for now, and others for good', async (_, refusal) => {
  const type = refusal.code;
  const now = { type, nextRetryDelay: expect.any(Number) };
  expect(await refused('wait', { refusal })).toMatchObject(now);
  expect(await refused('fail', { refusal })).toMatchObject({ type, nonRetryable: true });
});

it.each([['sessions'], ['bytes']])('a quota of %s refuses every caller for good', async (what) => {
  expect(await refused('wait', { refusal: quota(what) })).toMatchObject({ nonRetryable: true });
});
