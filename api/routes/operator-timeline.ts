import { notFound } from '../../ai-sdk/index.js';
import { OperatorRunPath } from '../../protocol/operator.js';
import { OperatorStep, OperatorStepPath, OperatorTimeline } from '../../protocol/timeline.js';
import { toAct } from '../../stores/record/acts.js';
import { toActor } from '../actor.js';
import { openRunForOperator } from '../operator-access.js';
import { readStep, readTimeline } from '../read-timeline.js';
import { recordRead } from '../record-read.js';
import { defineRoute, type Route } from './route.js';

/** One run from close by, for colleagues: when it did what, and what it read and wrote. */
export const OPERATOR_TIMELINE_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/operator/runs/:runId/timeline',
    id: 'getRunTimeline',
    summary: 'Get what a run of the tenant did and when: replies, calls, waits, lost attempts',
    params: OperatorRunPath,
    replies: { 200: { description: 'The timeline.', content: { json: OperatorTimeline } } },
    refusals: ['not_found'],
    headers: ['via'],
    handle: async (call) => {
      const { deps, response, caller, params } = call;
      const record = await openRunForOperator(deps, caller, 'read', params.runId);
      await recordRead(deps, toActor(call), record);
      const timeline = await readTimeline(deps, params.runId);
      if (timeline === undefined) throw notFound();
      response.json(timeline satisfies OperatorTimeline);
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/operator/runs/:runId/steps/:step',
    id: 'getRunStep',
    summary: 'Get what a step of a run wrote, and the inputs and outputs of its calls',
    params: OperatorStepPath,
    replies: { 200: { description: 'The step.', content: { json: OperatorStep } } },
    refusals: ['not_found'],
    headers: ['via'],
    handle: async (call) => {
      const { deps, response, caller, params } = call;
      const record = await openRunForOperator(deps, caller, 'read', params.runId);
      if (record.owner !== caller.userId) {
        // Recorded before it is answered.
        const act = toAct('read', toActor(call), { tenant: record.tenant });
        await deps.stateStore.audit.record(act, { sessionId: record.sessionId });
      }
      const step = await readStep(deps, params.runId, params.step);
      if (step === undefined) throw notFound();
      response.json(step satisfies OperatorStep);
    },
  }),
];
