import { allExtensions, type Extension } from '../../../extensions/index.js';
import { schedules } from '../../../extensions/schedules/index.js';
import type {
  DescribedSchedule,
  Schedules,
  ScheduleState,
} from '../../../extensions/schedules/schedules.js';
import { HelixError } from '../../../protocol/errors.js';

const state: ScheduleState = {
  name: 'daily',
  agent: 'tester',
  owner: 'ann',
  tenant: 'acme',
  by: 'ann',
  cron: '@daily',
  timeZone: 'UTC',
  overlap: 'skip',
  whenBusy: 'skip',
  isPaused: false,
  createdAt: 1,
  next: [2],
};
const schedule: DescribedSchedule = {
  ...state,
  message: 'hi',
  counts: { fired: 1, skipped: 0, missed: 0 },
  firings: [{ at: 1, workflowId: 'w', status: 'completed', sessionId: 's', runId: 's:1-a' }],
};

const act = async (tenant: string | undefined, name: string): Promise<void> => {
  if (tenant !== 'acme' || name !== 'daily') throw new HelixError('not_found', 'None.');
  return Promise.resolve();
};

/** Fakes that always reply with the schedule `daily` of the tenant `acme`. */
export const FAKE_SCHEDULES: Schedules = {
  create: async ({ message: _, isPaused = false, ...input }) =>
    Promise.resolve({ ...input, isPaused, createdAt: 1, next: [] }),
  list: async (tenant) => Promise.resolve(tenant === 'acme' ? [state] : []),
  read: async (tenant, name) =>
    Promise.resolve(tenant === 'acme' && name === 'daily' ? schedule : undefined),
  pause: act,
  resume: act,
  trigger: act,
  delete: async (...of) => act(...of).then(() => true),
  deleteOf: async () => Promise.resolve([]),
};

/** Returns all extensions of the package, with these schedules. */
export function withSchedules(fake = FAKE_SCHEDULES): Extension[] {
  const others = allExtensions().filter(({ name }) => name !== 'schedules');
  return [...others, schedules(() => fake)];
}
