import { notFound, requireAllowed } from '../../ai-sdk/index.js';
import type { Deliveries } from '../../runs/extension.js';
import {
  OperatorReceiverPath,
  OperatorReceivers,
  ReceiverTestReply,
} from '../../protocol/operator.js';
import { defineRoute, type Identity, type Route, type RouteDeps } from '../../api/extension.js';

/** Routes that list and test the receivers of a tenant. Undelivered notices are failed workflows in Temporal. */
export const OPERATOR_RECEIVER_ROUTES: readonly Route[] = [
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
    replies: { 200: { description: 'What came of it.', content: { json: ReceiverTestReply } } },
    refusals: ['not_found', 'not_allowed'],
    entry: 'notify',
    about: async ({ deps, params: { receiver }, caller }) => {
      await requireAllowed(deps, caller, 'retry');
      if (!receiversOf(deps, caller).some(({ name }) => name === receiver)) throw notFound();
      return { detail: { receiver } };
    },
    handle: async ({ deps, response, params, caller }) => {
      const { deliveries } = deps.executor;
      if (deliveries === undefined) throw notFound();
      const outcome = await deliveries.test(params.receiver, caller.tenantId);
      response.json(outcome satisfies ReceiverTestReply);
    },
  }),
];

/** Returns the receivers of the caller's tenant; others do not exist for the caller. */
function receiversOf({ executor }: RouteDeps, { tenantId }: Identity): Deliveries['receivers'] {
  const all = executor.deliveries?.receivers ?? [];
  return all.filter(({ tenant }) => tenant === undefined || tenant === tenantId);
}
