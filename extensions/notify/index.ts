import type { RequestHandler } from 'express';
import { requireAllowed } from '../../ai-sdk/index.js';
import { defineRoute, type Identity, type Route, type RouteDeps } from '../../api/extension.js';
import type { Extension } from '../../extension.js';
import {
  OperatorReceiverPath,
  OperatorReceivers,
  ReceiverTestReply,
} from '../../protocol/operator.js';
import { HelixError } from '../../protocol/errors.js';
import type { Deliveries } from '../../runs/extension.js';
import { loadJose } from './decide-links.js';
import { createDeliveries } from './deliveries.js';
import {
  isForTenant,
  toNotifySettings,
  type NotifyOptions,
  type NotifySettings,
} from './settings.js';

export type { MayStillDecide, NotifyOptions, ReceiverInput } from './settings.js';

/**
 * Notifies people and programs of waiting questions and ended runs. API and workers need the same options; without
 * options there are no receivers.
 *
 * @example
 * import { notices } from 'helix-temporal/notify';
 *
 * const extensions = [
 *   notices({
 *     receivers: [{ name: 'ops', kind: 'slack', url: 'https://hooks.slack.com/services/T/B/X' }],
 *   }),
 * ];
 * // createAgentExecutor({ …, extensions }), createApi({ …, extensions }), createAgentWorker({ …, extensions })
 *
 * @throws Error in one sentence for a receiver that is malformed, or that needs another setting
 */
export function notices(options?: NotifyOptions): Extension {
  const bare = { name: 'notify', routes: OPERATOR_RECEIVER_ROUTES };
  if (options === undefined) return bare;
  const settings = toNotifySettings(options);
  return {
    ...bare,
    deliveries: (temporal) => temporal && createDeliveries(temporal, settings),
    worker: async (host) => {
      // Without its package, each notice with a link would fail.
      if (settings.linkKeys.length > 0) await loadJose();
      return (await import('./activities.js')).createNoticeWork(host, settings);
    },
    ...(settings.linkKeys.length > 0 && {
      pages: (deps) => [decidePages(deps, settings)],
    }),
  };
}

/** Loads the pages for the API only, since a worker needs no web server. */
function decidePages(deps: RouteDeps, settings: NotifySettings): RequestHandler {
  const loaded = import('./decide.js').then(({ createDecidePages }) =>
    createDecidePages(deps, settings),
  );
  return async (request, response, next) => (await loaded)(request, response, next);
}

/** Routes that list and test the receivers of a tenant. Undelivered notices are failed workflows in Temporal. */
const OPERATOR_RECEIVER_ROUTES: readonly Route[] = [
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
      const receivers = receiversOf(deps, caller);
      const shown = receivers.map(({ name, kind, escalation }) => ({ name, kind, escalation }));
      response.json({ receivers: shown } satisfies OperatorReceivers);
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
      if (!receiversOf(deps, caller).some(({ name }) => name === receiver)) throw noReceiver();
      return { detail: { receiver } };
    },
    handle: async ({ deps, response, params, caller }) => {
      const { deliveries } = deps.executor;
      if (deliveries === undefined) throw noReceiver();
      const outcome = await deliveries.test(params.receiver, caller.tenantId);
      response.json(outcome satisfies ReceiverTestReply);
    },
  }),
];

/** Returns the receivers of the caller's tenant; others do not exist for the caller. */
function receiversOf({ executor }: RouteDeps, { tenantId }: Identity): Deliveries['receivers'] {
  const all = executor.deliveries?.receivers ?? [];
  return all.filter((receiver) => isForTenant(receiver, tenantId));
}

function noReceiver(): HelixError {
  return new HelixError('not_found', 'There is no such receiver.');
}
