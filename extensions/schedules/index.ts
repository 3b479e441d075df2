import type { Extension } from '../../extension.js';
import type { RunsHost } from '../../executor/extension.js';
import { toScheduleRoutes } from './routes.js';
import { createSchedules, type Schedules } from './schedules.js';

export { createSchedules, type Schedules } from './schedules.js';
export type { DescribedSchedule, ScheduleState } from './state.js';

/**
 * Runs that begin at set times.
 *
 * @param open default: schedules of the Temporal that carries out the runs
 */
export function schedules(open = openSchedules): Extension {
  return {
    name: 'schedules',
    routes: toScheduleRoutes(open),
    forget: async ({ tenant, owner }, { temporal }) => {
      await open(temporal)?.deleteOf(tenant, owner);
    },
  };
}

function openSchedules(temporal: RunsHost['temporal']): Schedules | undefined {
  return temporal && createSchedules(temporal);
}
