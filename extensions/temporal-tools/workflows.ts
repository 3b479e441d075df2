import {
  ActivityCancellationType,
  ApplicationFailure,
  createNexusServiceClient,
  proxyActivities,
} from '@temporalio/workflow';
import type { ToolWorkCall, ToolWorkInput } from '../../protocol/temporal.js';

/** A Nexus service of unknown type. */
interface AnyService {
  executeOperation: (
    name: string,
    input: unknown,
    options: { scheduleToCloseTimeout: number },
  ) => Promise<unknown>;
}
type AnyActivity = (input: unknown, call: ToolWorkCall) => Promise<unknown>;

/**
 * Executes one call as an activity or Nexus operation of the tool's author, returns its result and
 * passes on a cancel. Inputs and results stay in this workflow's history, so the run's stays small.
 */
export async function agentToolWork(given: ToolWorkInput): Promise<unknown> {
  // An input that was typed by hand would fail the workflow's task again and again.
  if ((given as Partial<ToolWorkInput> | null | undefined)?.work?.options === undefined)
    throw ApplicationFailure.nonRetryable('The input names no work.', 'validation_error');
  const { work, input, call } = given;
  const { name } = work;
  if (work.kind === 'nexus') {
    const { endpoint, service, options } = work;
    const operations = { [name]: { name } };
    const client = createNexusServiceClient({
      endpoint,
      service: { name: service, operations } as never,
    });
    return (client as unknown as AnyService).executeOperation(name, input, options);
  }
  const { taskQueue, options } = work;
  const activities = proxyActivities<Record<string, AnyActivity>>({
    ...options,
    taskQueue,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
  });
  return activities[name]?.(input, call);
}
