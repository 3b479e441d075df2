import { AG_UI_ROUTES } from './ag-ui.js';
import { AGENT_ROUTES } from './agent.js';
import { ANSWER_ROUTES } from './answers.js';
import { AUDIT_ROUTES } from './audit.js';
import { CHAT_ROUTES } from './chat.js';
import { FILE_ROUTES } from './files.js';
import { OPERATOR_AGENT_ROUTES } from './operator-agents.js';
import { OPERATOR_BATCH_ROUTES } from './operator-batches.js';
import { OPERATOR_RECEIVER_ROUTES } from './operator-receivers.js';
import { OPERATOR_RUN_ROUTES } from './operator-runs.js';
import { OPERATOR_RUN_EVENTS_ROUTE } from './operator-run-events.js';
import { OPERATOR_FORK_ROUTE } from './operator-fork.js';
import { OPERATOR_SCHEDULE_ROUTES } from './operator-schedules.js';
import { OPERATOR_SESSION_ROUTES } from './operator-sessions.js';
import { OPERATOR_TIMELINE_ROUTES } from './operator-timeline.js';
import { OPERATOR_WAITING_ROUTES } from './operator-waiting.js';
import { ME_ROUTES } from './me.js';
import { OPENAI_ROUTES } from './openai.js';
import { PEOPLE_ROUTES } from './people.js';
import { QUEUE_ROUTES } from './queue.js';
import { RERUN_ROUTES } from './reruns.js';
import { OPERATOR_CODEC_ROUTES } from './operator-codec.js';
import { OPERATOR_USAGE_ROUTE } from './operator-usage.js';
import { OPERATOR_WORKERS_ROUTE } from './operator-workers.js';
import { onceByKey } from './once.js';
import type { Route } from './route.js';
import { METRICS_ROUTE, SERVICE_ROUTES } from './service.js';
import { SESSION_ROUTES } from './session.js';
import { SESSIONS_ROUTES } from './sessions.js';
import { WEBHOOK_ROUTES } from './webhooks.js';

const OPERATORS = '/api/operator/';

/** All routes. */
export const ROUTES: readonly Route[] = [
  ...CHAT_ROUTES,
  ...SESSION_ROUTES,
  ...FILE_ROUTES,
  ...ANSWER_ROUTES,
  ...QUEUE_ROUTES,
  ...RERUN_ROUTES,
  ...SESSIONS_ROUTES,
  ...AGENT_ROUTES,
  ...OPENAI_ROUTES,
  ...AG_UI_ROUTES,
  OPERATOR_WORKERS_ROUTE,
  OPERATOR_USAGE_ROUTE,
  ...OPERATOR_CODEC_ROUTES,
  ...AUDIT_ROUTES,
  ...PEOPLE_ROUTES,
  ...ME_ROUTES,
  ...OPERATOR_WAITING_ROUTES,
  ...OPERATOR_RUN_ROUTES,
  OPERATOR_RUN_EVENTS_ROUTE,
  OPERATOR_FORK_ROUTE,
  ...OPERATOR_TIMELINE_ROUTES,
  ...OPERATOR_BATCH_ROUTES,
  ...OPERATOR_RECEIVER_ROUTES,
  ...OPERATOR_AGENT_ROUTES,
  ...OPERATOR_SCHEDULE_ROUTES,
  ...OPERATOR_SESSION_ROUTES,
  ...WEBHOOK_ROUTES,
  ...SERVICE_ROUTES,
  METRICS_ROUTE,
].map((route) => inChosenTenant(isAct(route) ? onceByKey(route) : route));

/** Operators may choose a tenant, see `chosen-tenant.ts`. */
function inChosenTenant(route: Route): Route {
  if (!route.path.startsWith(OPERATORS)) return route;
  const refusals = new Set([...(route.refusals ?? []), 'not_allowed' as const]);
  return { ...route, headers: [...(route.headers ?? []), 'tenant'], refusals: [...refusals] };
}

/** An act of an operator, or an erasure. */
function isAct({ method, path }: Route): boolean {
  const isErasure = method === 'delete' && !path.endsWith('/queue');
  return (
    isErasure || (method === 'post' && path.startsWith(OPERATORS) && !path.includes('/codec/'))
  );
}

/** The routes of an app whose metrics are on this port, or on another one. */
export function routesOf({ publicMetrics = true }: { publicMetrics?: boolean }): readonly Route[] {
  return publicMetrics ? ROUTES : ROUTES.filter((route) => route !== METRICS_ROUTE);
}
