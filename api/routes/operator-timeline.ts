import { notFound } from '../../ai-sdk/index.js';
import { OperatorRunPath } from '../../protocol/operator.js';
import { OperatorStep, OperatorStepPath, OperatorTimeline } from '../../protocol/timeline.js';
import { mayReadRun } from '../operator-access.js';
import { readStep, readTimeline } from '../read-timeline.js';
import { defineRoute, type Route } from './route.js';

/** One run from close by, for colleagues: when it did what, and what it read and wrote. */
export const OPERATOR_TIMELINE_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/operator/runs/:runId/timeline',
    id: 'getRunTimeline',
    audits: 'read',
    summary: 'Get what a run of the tenant did and when: replies, calls, waits, lost attempts',
    params: OperatorRunPath,
    replies: { 200: { description: 'The timeline.', content: { json: OperatorTimeline } } },
    refusals: ['not_found'],
    about: mayReadRun,
    handle: async ({ deps, response, params }) => {
      const timeline = await readTimeline(deps, params.runId);
      if (timeline === undefined) throw notFound();
      response.json(timeline satisfies OperatorTimeline);
    },
  }),
  defineRoute({
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
  }),
];
