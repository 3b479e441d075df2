import type { Extension } from '../../extension.js';
import type { RunsHost } from '../../runs/extension.js';
import { toScheduleRoutes, type OpenSchedules } from './routes.js';
import type { Schedules } from './schedules.js';

/**
 * Lets operators schedule runs.
 *
 * @param open opens the schedules. Default: those of the Temporal that carries out the runs
 */
export function schedules(open: OpenSchedules = openSchedules): Extension {
  return {
    name: 'schedules',
    routes: toScheduleRoutes(open),
    forget: async ({ tenant, owner }, { temporal }) => {
      await (await open(temporal))?.deleteOf(tenant, owner);
    },
  };
}

/** Imports Temporal's client only when needed: a one-process program has none. */
async function openSchedules(temporal: RunsHost['temporal']): Promise<Schedules | undefined> {
  if (temporal === undefined) return undefined;
  const { createSchedules } = await import('./schedules.js');
  return createSchedules(temporal);
}
