import { judgeHealth } from '../../executor/judge-health.js';
import { HelixError } from '../../protocol/errors.js';
import { HealthQuery, HealthReply } from '../../protocol/health.js';
import { requireNoTenant } from '../operator-access.js';
import { defineRoute, type Route } from './route.js';

/** How the service does, for operators and for `doctor`. */
export const OPERATOR_HEALTH_ROUTE: Route = defineRoute({
  method: 'get',
  path: '/api/operator/health',
  id: 'getHealthVerdict',
  audits: 'none',
  summary: 'Get a verdict on how the service does, with the one thing to do next',
  query: HealthQuery,
  replies: {
    200: { description: 'The verdict.', content: { json: HealthReply } },
  },
  refusals: ['not_allowed', 'not_found'],
  handle: async ({ deps, response, query, caller }) => {
    await requireNoTenant(deps, caller, 'The verdict is');
    const { readHealth } = deps;
    if (readHealth === undefined) throw new HelixError('not_found', 'There is no verdict here.');
    const facts = await readHealth(query.period * 1_000);
    response.json(judgeHealth(facts) satisfies HealthReply);
  },
});
