import { notFound } from '../../ai-sdk/index.js';
import { OperatorStep, OperatorStepPath } from '../../protocol/operator-step.js';
import { mayReadRun } from '../operator-access.js';
import { readStep } from '../read-step.js';
import { defineRoute, type Route } from './route.js';

/** A step of a run from close by, for colleagues: what it read and wrote. */
export const OPERATOR_STEP_ROUTE: Route = defineRoute({
  method: 'get',
  path: '/api/operator/runs/:runId/steps/:step',
  id: 'getRunStep',
  audits: 'read',
  summary: 'Get what a step of a run wrote, and the inputs and outputs of its calls',
  params: OperatorStepPath,
  replies: { 200: { description: 'The step.', content: { json: OperatorStep } } },
  refusals: ['not_found'],
  entry: 'read',
  about: mayReadRun,
  handle: async ({ deps, response, params }) => {
    const step = await readStep(deps, params.runId, params.step);
    if (step === undefined) throw notFound();
    response.json(step satisfies OperatorStep);
  },
});
