import type { WorkflowHandle } from '@temporalio/client';
import type { HistoryEvent } from './history-of.js';
import { until } from './until.js';

/** The events of a workflow from the first with these attributes on, once it is there. */
export function untilEvent(
  handle: WorkflowHandle,
  attributes: keyof HistoryEvent,
): Promise<HistoryEvent[]> {
  return until(attributes, () => eventsSince(handle, attributes));
}

/** The same, once the workflow has handled that event. */
export function untilTaskAfter(
  handle: WorkflowHandle,
  attributes: keyof HistoryEvent,
): Promise<HistoryEvent[]> {
  return until(`a workflow task after ${attributes}`, async () => {
    const since = await eventsSince(handle, attributes);
    return since?.some((event) => event.workflowTaskCompletedEventAttributes != null) && since;
  });
}

async function eventsSince(
  handle: WorkflowHandle,
  attributes: keyof HistoryEvent,
): Promise<HistoryEvent[] | undefined> {
  const { events } = await handle.fetchHistory();
  const at = events?.findIndex((event) => event[attributes] != null) ?? -1;
  return at < 0 ? undefined : events?.slice(at);
}
