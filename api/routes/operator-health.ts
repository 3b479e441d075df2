import { judgeHealth } from '../../executor/judge-health.js';
import { HelixError } from '../../protocol/errors.js';
import { HealthQuery, HealthReply } from '../../protocol/health.js';
import type { RouteDeps } from '../deps.js';
import type { Identity } from '../identity.js';
import { defineRoute, type Route } from './route.js';

/** How the service does, for operators and for `doctor`. */
export const OPERATOR_HEALTH_ROUTE: Route = defineRoute({
  method: 'get',
  path: '/api/operator/health',
  id: 'getHealthVerdict',
  summary: 'Get a verdict on how the service does, with the one thing to do next',
  query: HealthQuery,
  replies: {
    200: { description: 'The verdict.', content: { json: HealthReply } },
  },
  refusals: ['not_found'],
  handle: async ({ deps, response, query, caller }) => {
    const { readHealth } = deps;
    if (readHealth === undefined || !mayLook(deps, caller)) {
      throw new HelixError('not_found', 'There is no such route.');
    }
    const facts = await readHealth(query.period * 1_000);
    response.set('cache-control', 'no-store').json(judgeHealth(facts) satisfies HealthReply);
  },
});

/**
 * Every role may look, but none within a tenant, since the facts are of all tenants together. Without
 * accounts there is one user, who may do everything.
 */
function mayLook({ authenticate }: RouteDeps, caller: Identity): boolean {
  if (authenticate === undefined) return true;
  return caller.tenantId === undefined && (caller.roles ?? []).length > 0;
}
