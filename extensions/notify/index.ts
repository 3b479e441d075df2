import type { WorkerNotifier } from '../../worker/notifier.js';
import { createNoticeWork } from './activities.js';
import { createDeliveries } from './deliveries.js';
import { toNotifySettings, type NotifyOptions } from './settings.js';

export type { ReceiverInput } from './receivers.js';
export type { NotifyOptions } from './settings.js';

/**
 * Notifies people and programs of what waits and what has ended: `notify` of `createAgentExecutor` and
 * `createAgentWorker`, which need the same settings.
 *
 * @example
 * import { notices } from 'helix-temporal/notify';
 *
 * const notify = notices({
 *   receivers: [{ name: 'ops', kind: 'slack', url: 'https://hooks.slack.com/services/T/B/X' }],
 * });
 * // createAgentExecutor({ …, notify }), createAgentWorker({ …, notify })
 *
 * @throws Error in one sentence for a receiver that is malformed, or that needs another setting
 */
export function notices(options: NotifyOptions): WorkerNotifier {
  const settings = toNotifySettings(options);
  return {
    deliveries: (client, taskQueue) => createDeliveries(client, taskQueue, settings),
    worker: (host) => createNoticeWork(host, settings),
  };
}
