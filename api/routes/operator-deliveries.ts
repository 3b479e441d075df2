import { notFound, requireAllowed, toStoredSessionId, type Action } from '../../ai-sdk/index.js';
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
import { mayRead } from '../operator-access.js';
import type { About } from '../record-access.js';
import { defineRoute, type Route } from './route.js';

const DELIVERY = { content: { json: OperatorDelivery } };

/** Notices of a tenant to receivers, and those that were not taken. */
export const OPERATOR_DELIVERY_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/operator/deliveries',
    id: 'listDeliveries',
    audits: 'read',
    summary: 'List notices to receivers; Temporal lists them up to two seconds late',
    query: OperatorDeliveriesQuery,
    replies: { 200: { description: 'The newest first.', content: { json: OperatorDeliveries } } },
    refusals: ['not_allowed'],
    about: mayRead,
    handle: async ({ deps, response, query, caller }) => {
      const found = (await deps.executor.deliveries?.list(caller.tenantId, query)) ?? [];
      response.json({ deliveries: found.map(toReply) } satisfies OperatorDeliveries);
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/operator/deliveries/:deliveryId',
    id: 'getDelivery',
    audits: 'read',
    summary: 'Get a notice to a receiver, and why it was not taken',
    params: OperatorDeliveryPath,
    replies: { 200: { description: 'The delivery.', ...DELIVERY } },
    refusals: ['not_found', 'not_allowed'],
    about: (call) => open(call, 'read'),
    handle: ({ response, about: { delivery } }) => {
      response.json(toReply(delivery));
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/operator/deliveries/:deliveryId/redeliver',
    id: 'redeliver',
    audits: 'act',
    summary: 'Send a notice again that was not taken; its id at the receiver stays',
    params: OperatorDeliveryPath,
    replies: { 202: { description: 'The delivery, which has begun again.', ...DELIVERY } },
    refusals: ['not_found', 'not_allowed', 'nothing_to_do'],
    entry: 'notify',
    about: (call) => open(call, 'retry'),
    handle: async ({ deps, response, about: { delivery } }) => {
      await deliveriesOf(deps).redeliver(delivery);
      const { endedAt: _ended, problem: _problem, ...again } = delivery;
      response.status(202).json(toReply({ ...again, status: 'running' }));
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/operator/receivers',
    id: 'listReceivers',
    audits: 'none',
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
    audits: 'act',
    summary: 'Send a test to a receiver',
    params: OperatorReceiverPath,
    replies: { 202: { description: 'The delivery, which has begun.', ...DELIVERY } },
    refusals: ['not_found', 'not_allowed'],
    entry: 'notify',
    about: async ({ deps, params: { receiver }, caller }) => {
      await requireAllowed(deps, caller, 'retry');
      if (!receiversOf(deps, caller).some(({ name }) => name === receiver)) throw notFound();
      return { detail: { receiver } };
    },
    handle: async ({ deps, response, params, caller }) => {
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

/** @throws HelixError `not_allowed`; `not_found`, also for another tenant's */
async function open(
  { deps, params, caller }: { deps: RouteDeps; params: { deliveryId: string }; caller: Identity },
  action: Action,
): Promise<About & { delivery: DeliveryState }> {
  await requireAllowed(deps, caller, action);
  const { deliveryId: id } = params;
  const delivery = await deps.executor.deliveries?.read(toStoredSessionId(id, caller.tenantId));
  if (delivery === undefined) throw notFound();
  return { delivery, detail: { delivery: id } };
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
