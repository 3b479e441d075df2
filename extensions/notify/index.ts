import type { Extension } from '../../extension.js';
import type { Deliveries, RunsHost } from '../../runs/extension.js';
import { createDecidePages } from './decide.js';
import { loadJose } from './decide-links.js';
import { OPERATOR_RECEIVER_ROUTES } from './routes.js';
import {
  toNotifySettings,
  toRunNotices,
  type NotifyOptions,
  type NotifySettings,
} from './settings.js';

export type { ReceiverInput } from './receivers.js';
export type { MayStillDecide, NotifyOptions } from './settings.js';

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
    deliveries: (temporal) => temporal && deliver(temporal, settings),
    worker: async (host) => {
      // Without its package, each notice with a link would fail.
      if (settings.linkKeys.length > 0) await loadJose();
      return (await import('./activities.js')).createNoticeWork(host, settings);
    },
    ...(settings.linkKeys.length > 0 && {
      pages: (deps) => [createDecidePages(deps, settings)],
    }),
  };
}

/** Loads the module that imports Temporal's client only when a notice is sent. */
function deliver(
  { client, taskQueue }: NonNullable<RunsHost['temporal']>,
  settings: NotifySettings,
): Deliveries {
  const load = async (): Promise<Deliveries> =>
    (await import('./deliveries.js')).createDeliveries(client, taskQueue, settings);
  return {
    notify: toRunNotices(settings),
    receivers: settings.receivers,
    announce: async (...notice) => (await load()).announce(...notice),
    announceEnd: async (end) => (await load()).announceEnd(end),
    test: async (...of) => (await load()).test(...of),
  };
}
