import { defaultPayloadConverter } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import { workflowIdOf } from '../../protocol/ids.js';
import { openTemporal, type SharedProduct } from './product.js';
import { storedRecord } from './stored-record.js';

export type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** Returns the summaries of events, which operators read in the run's timeline. */
export function summariesOf(events: readonly HistoryEvent[]): unknown[] {
  return events.flatMap(({ userMetadata }) =>
    userMetadata?.summary ? defaultPayloadConverter.fromPayload(userMetadata.summary) : [],
  );
}

/** Returns the argument with which a workflow or an activity was started. */
export function argumentOf(
  attributes: { input?: temporal.api.common.v1.IPayloads | null } | null | undefined,
): unknown {
  return defaultPayloadConverter.fromPayload(attributes?.input?.payloads?.[0] ?? {});
}

/** Returns a function that reads the events of a conversation's newest run. */
export function createHistoryReader(product: Pick<SharedProduct, 'redis'>) {
  const { workflow } = openTemporal();
  return async (sessionId: string): Promise<HistoryEvent[]> => {
    const record = await storedRecord(product.redis, sessionId);
    const handle = workflow.getHandle(workflowIdOf(record?.run.id ?? ''));
    return (await handle.fetchHistory()).events ?? [];
  };
}
