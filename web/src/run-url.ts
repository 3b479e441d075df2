import { workflowIdOf } from '../../protocol/ids.js';
import type { PageConfig } from './api-client.js';

/** Where the Temporal UI shows a run; undefined if the server knows of no UI. */
export function runUrl(
  config: Pick<PageConfig, 'temporalUi' | 'namespace'>,
  runId: string | undefined,
): string | undefined {
  if (config.temporalUi === undefined || runId === undefined) return undefined;
  const base = config.temporalUi.replace(/\/+$/, '');
  const namespace = encodeURIComponent(config.namespace);
  return `${base}/namespaces/${namespace}/workflows/${encodeURIComponent(workflowIdOf(runId))}`;
}
