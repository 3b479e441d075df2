import { notFound, requireAllowed, toStoredSessionId } from '../../ai-sdk/index.js';
import type { Deliveries, DeliveryState } from '../../executor/deliveries.js';
import {
  OperatorDeliveries,
  OperatorDeliveriesQuery,
  OperatorDelivery,
  OperatorDeliveryPath,
  OperatorReceiverPath,
  OperatorReceivers,
} from '../../protocol/deliveries.js';
import { HelixError } from '../../protocol/errors.js';
import { toShownSessionId } from '../../protocol/ids.js';
import type { RouteDeps } from '../deps.js';
import type { Identity } from '../identity.js';
import { defineRoute, type Route } from './route.js';

const DELIVERY = { content: { json: OperatorDelivery } };

/** Notices of a tenant to receivers, and those that were not taken. */
export const OPERATOR_DELIVERY_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/operator/deliveries',
    id: 'listDeliveries',
    summary: 'List notices to receivers; Temporal lists them up to two seconds late',
    query: OperatorDeliveriesQuery,
    replies: { 200: { description: 'The newest first.', content: { json: OperatorDeliveries } } },
    refusals: ['not_allowed'],
    handle: async ({ deps, response, query, caller }) => {
      await requireAllowed(deps, caller, 'read');
      const found = (await deps.executor.deliveries?.list(caller.tenantId, query)) ?? [];
      response.json({ deliveries: found.map(toReply) } satisfies OperatorDeliveries);
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/operator/deliveries/:deliveryId',
    id: 'getDelivery',
    summary: 'Get a notice to a receiver, and why it was not taken',
    params: OperatorDeliveryPath,
    replies: { 200: { description: 'The delivery.', ...DELIVERY } },
    refusals: ['not_found', 'not_allowed'],
    handle: async ({ deps, response, params, caller }) => {
      await requireAllowed(deps, caller, 'read');
      const delivery = await open(deps, caller, params.deliveryId);
      response.json(toReply(delivery));
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/operator/deliveries/:deliveryId/redeliver',
    id: 'redeliver',
    summary: 'Send a notice again that was not taken; its id at the receiver stays',
    params: OperatorDeliveryPath,
    replies: { 202: { description: 'The delivery, which has begun again.', ...DELIVERY } },
    refusals: ['not_found', 'not_allowed', 'nothing_to_do'],
    handle: async ({ deps, response, params, caller }) => {
      await requireAllowed(deps, caller, 'retry');
      const delivery = await open(deps, caller, params.deliveryId);
      await deliveriesOf(deps).redeliver(delivery);
      const { endedAt: _ended, problem: _problem, ...again } = delivery;
      response.status(202).json(toReply({ ...again, status: 'running' }));
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/operator/receivers',
    id: 'listReceivers',
    summary: 'List who is notified',
    replies: {
      200: { description: 'Names and kinds.', content: { json: OperatorReceivers } },
    },
    refusals: ['not_allowed'],
    handle: async ({ deps, response, caller }) => {
      await requireAllowed(deps, caller, 'read');
      const receivers = receiversOf(deps, caller).map(({ name, kind, escalation }) => ({
        name,
        kind,
        escalation,
      }));
      response.json({ receivers } satisfies OperatorReceivers);
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/operator/receivers/:receiver/test',
    id: 'testReceiver',
    summary: 'Send a test to a receiver',
    params: OperatorReceiverPath,
    replies: { 202: { description: 'The delivery, which has begun.', ...DELIVERY } },
    refusals: ['not_found', 'not_allowed'],
    handle: async ({ deps, response, params, caller }) => {
      await requireAllowed(deps, caller, 'retry');
      const isKnown = receiversOf(deps, caller).some(({ name }) => name === params.receiver);
      if (!isKnown) throw notFound();
      const delivery = await deliveriesOf(deps).test(params.receiver, caller.tenantId);
      response.status(202).json(toReply(delivery));
    },
  }),
];

/** Those of other tenants do not exist for the caller. */
function receiversOf({ executor }: RouteDeps, { tenantId }: Identity): Deliveries['receivers'] {
  const all = executor.deliveries?.receivers ?? [];
  return all.filter(({ tenant }) => tenant === undefined || tenant === tenantId);
}

/** @throws HelixError `not_found`, also for another tenant's */
async function open(deps: RouteDeps, { tenantId }: Identity, id: string): Promise<DeliveryState> {
  const found = await deps.executor.deliveries?.read(toStoredSessionId(id, tenantId));
  if (found === undefined) throw notFound();
  return found;
}

/** @throws HelixError `unavailable` */
function deliveriesOf({ executor }: RouteDeps): Deliveries {
  if (executor.deliveries !== undefined) return executor.deliveries;
  throw new HelixError('unavailable', 'This server has no receivers.');
}

function toReply({ deliveryId, notice, ...delivery }: DeliveryState): OperatorDelivery {
  const { id: noticeId, type, sessionId, runId, toolCallId, toolName } = notice;
  const shown = sessionId === undefined ? undefined : toShownSessionId(sessionId);
  const about = { sessionId: shown, runId, toolCallId, toolName };
  return { id: toShownSessionId(deliveryId), noticeId, type, ...about, ...delivery };
}
