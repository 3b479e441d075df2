import {
  ActivityCancellationType,
  createNexusServiceClient,
  proxyActivities,
} from '@temporalio/workflow';
import type { ToolWorkCall, ToolWorkInput } from '../protocol/tool-work.js';

/** A service whose types are not known here. */
interface AnyService {
  executeOperation: (
    name: string,
    input: unknown,
    options: { scheduleToCloseTimeout: number },
  ) => Promise<unknown>;
}
type AnyActivity = (input: unknown, call: ToolWorkCall) => Promise<unknown>;

/**
 * The work of one call: an activity or a Nexus operation of the tool's author. Its result is the call's;
 * a cancel is passed on. Inputs and results stand in this history, so that of the run stays small.
 */
export async function agentToolWork({ work, input, call }: ToolWorkInput): Promise<unknown> {
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
