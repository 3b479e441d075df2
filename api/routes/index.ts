import { CHAT_ROUTES } from './chat.js';
import { RERUN_ROUTES } from './reruns.js';
import { onceByKey } from './idempotency.js';
import type { ApiExtension } from '../extension.js';
import type { Route } from './route.js';
import { SERVICE_ROUTES } from './service.js';
import { SESSION_ROUTES } from './session.js';
import { SESSIONS_ROUTES } from './sessions.js';
import { WEBHOOK_ROUTES } from './webhooks.js';

const OPERATORS = '/api/operator/';

const CORE: readonly Route[] = [
  ...CHAT_ROUTES,
  ...SESSION_ROUTES,
  ...RERUN_ROUTES,
  ...SESSIONS_ROUTES,
  ...WEBHOOK_ROUTES,
  ...SERVICE_ROUTES,
].map(asServed);

function asServed(route: Route): Route {
  return inChosenTenant(isAct(route) ? onceByKey(route) : route);
}

/** Operators may choose a tenant, see `readCaller`. */
function inChosenTenant(route: Route): Route {
  if (!route.path.startsWith(OPERATORS)) return route;
  const refusals = new Set([...(route.refusals ?? []), 'not_allowed' as const]);
  return { ...route, headers: [...(route.headers ?? []), 'tenant'], refusals: [...refusals] };
}

/** Returns true for acts of operators, for erasures, and for routes that say so. */
function isAct({ method, path, isOnce }: Route): boolean {
  const isErasure = method === 'delete' && !path.endsWith('/queue');
  const isOperators = path.startsWith(OPERATORS) && !path.includes('/codec/');
  return isOnce === true || isErasure || (method === 'post' && isOperators);
}

const METRICS = '/metrics';

/** Lists the routes of an app; `/metrics` only if it is served on this port. */
export function routesOf(input: {
  publicMetrics?: boolean;
  extensions: readonly Pick<ApiExtension, 'routes'>[];
}): readonly Route[] {
  const { publicMetrics = true, extensions } = input;
  const added = extensions.flatMap(({ routes = [] }) => routes.map(asServed));
  const all = [...CORE, ...added];
  return publicMetrics ? all : all.filter(({ path }) => path !== METRICS);
}
