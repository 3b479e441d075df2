import { defineRoute, requireNoTenant, type Route } from '../../api/extension.js';
import { HelixError } from '../../protocol/errors.js';
import { OperatorWorkers } from '../../protocol/operator-workers.js';

/** The workers of the fleet. */
export const OPERATOR_WORKERS_ROUTE: Route = defineRoute({
  method: 'get',
  path: '/api/operator/workers',
  id: 'listWorkers',
  audits: 'none',
  summary: 'List the workers that ask Temporal for work, and the leases that they hold',
  replies: { 200: { description: 'The workers.', content: { json: OperatorWorkers } } },
  refusals: ['not_allowed', 'not_found', 'unavailable'],
  handle: async ({ deps, response, caller }) => {
    await requireNoTenant(deps, caller, 'Workers are listed');
    const { readWorkers } = deps;
    if (readWorkers === undefined) throw new HelixError('not_found', 'There are no workers here.');
    const reply = await readWorkers();
    response.json(reply satisfies OperatorWorkers);
  },
});
