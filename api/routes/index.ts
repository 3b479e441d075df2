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
  requireDistinct(all);
  return publicMetrics ? all : all.filter(({ path }) => path !== METRICS);
}

/** @throws Error for two routes that serve the same requests, of which only the first would get them */
function requireDistinct(routes: readonly Route[]): void {
  const known = new Map<string, Route>();
  for (const route of routes) {
    const { method, path, id } = route;
    const served = `${method} ${path.toLowerCase().replaceAll(/:\w+|\/$/g, '')}`;
    const other = known.get(served);
    if (other !== undefined) {
      throw new Error(
        `The routes "${other.id}" and "${id}" both serve ${method.toUpperCase()} ${path}.`,
      );
    }
    known.set(served, route);
  }
}
