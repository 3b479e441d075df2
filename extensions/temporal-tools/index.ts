import { z } from 'zod';
import type { CallActivity } from '../../protocol/run.js';
import type { ToolWork } from '../../protocol/temporal.js';
import {
  assertSettings,
  defineTool,
  Duration,
  must,
  settings,
  ToolError,
  type OutputOf,
  type ToolConfig,
  type TypedTool,
} from '../../agents/index.js';

type Shared<Input extends z.ZodType, Output extends z.ZodType, Name extends string> = Pick<
  ToolConfig<Input, Output, z.input<Output>, Name>,
  | 'name'
  | 'description'
  | 'inputSchema'
  | 'outputSchema'
  | 'requireApproval'
  | 'approvers'
  | 'separateApprover'
  | 'deadlineMs'
  | 'onExpiry'
  | 'finishWith'
  /** Time limit of a call with all tries, ms. Default: 20 minutes. */
  | 'timeoutMs'
>;

/** Settings of a tool whose calls run as an activity of yours. */
export interface ActivityToolConfig<
  Input extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
  Name extends string = string,
> extends Shared<Input, Output, Name> {
  /** Type of the activity: its name on your worker, in whatever language. */
  activity: string;
  /** Task queue of that worker. */
  taskQueue: string;
  /** Time limit of one try, ms. Default: `timeoutMs`. */
  startToCloseTimeout?: number;
  /** Longest wait of a try for a worker, ms. Default: `timeoutMs`. */
  scheduleToStartTimeout?: number;
  /**
   * A try without a heartbeat for this long counts as lost, ms. Default: no heartbeats expected.
   */
  heartbeatTimeout?: number;
  /** Default: one try, since the activity may have effects. */
  retry?: CallActivity['retry'] & { nonRetryableErrorTypes?: string[] };
}

/** Settings of a tool whose calls run as a Nexus operation. */
export interface NexusToolConfig<
  Input extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
  Name extends string = string,
> extends Shared<Input, Output, Name> {
  /** Nexus endpoint as registered with the server. */
  endpoint: string;
  service: string;
  operation: string;
}

type RemoteTool<Input extends z.ZodType, Output extends z.ZodType, Name extends string> = TypedTool<
  Name,
  z.input<Input>,
  OutputOf<Output, z.input<Output>>
>;

const TIMEOUT_MS = 20 * 60_000;

const Named = must('a name', (value) => typeof value === 'string' && value.trim() !== '');
const ActivityFields = settings({
  activity: Named,
  taskQueue: Named,
  startToCloseTimeout: Duration.optional(),
  scheduleToStartTimeout: Duration.optional(),
  heartbeatTimeout: Duration.optional(),
  retry: z
    .strictObject({
      initialInterval: Duration.optional(),
      maximumInterval: Duration.optional(),
      backoffCoefficient: z.number().min(1).optional(),
      maximumAttempts: Duration.optional(),
      nonRetryableErrorTypes: z.array(z.string()).optional(),
    })
    .optional(),
});
const NexusFields = settings({ endpoint: Named, service: Named, operation: Named });

/**
 * Creates a tool whose calls an activity of yours executes, on your worker in any language. It gets
 * the checked input, and `{ idempotencyKey, sessionId, runId, toolCallId, requester?, approver? }`
 * as its second argument. Its return value is the result of the call; the model sees its errors.
 *
 * @example
 * import { activityTool } from 'helix-temporal';
 * import { z } from 'zod';
 *
 * export const ship = activityTool({
 *   name: 'ship',
 *   description: 'Ships an order.',
 *   inputSchema: z.object({ orderId: z.string() }),
 *   requireApproval: true,
 *   activity: 'ShipOrder',
 *   taskQueue: 'warehouse',
 *   startToCloseTimeout: 60_000,
 * });
 *
 * @throws DefinitionError
 */
export function activityTool<
  Input extends z.ZodType,
  Output extends z.ZodType = z.ZodType,
  const Name extends string = string,
>(config: ActivityToolConfig<Input, Output, Name>): RemoteTool<Input, Output, Name> {
  const { activity, taskQueue, retry, ...rest } = config;
  const { startToCloseTimeout, scheduleToStartTimeout, heartbeatTimeout, ...tool } = rest;
  const times = { startToCloseTimeout, scheduleToStartTimeout, heartbeatTimeout };
  assertSettings(ActivityFields, { activity, taskQueue, retry, ...times }, { tool: tool.name });
  const scheduleToCloseTimeout = tool.timeoutMs ?? TIMEOUT_MS;
  return define(tool, {
    kind: 'activity',
    name: activity,
    taskQueue,
    options: { ...times, scheduleToCloseTimeout, retry: retry ?? { maximumAttempts: 1 } },
  });
}

/**
 * Creates a tool whose calls a Nexus operation executes, possibly of another team, namespace or
 * cluster. It gets the checked input; its result is the result of the call.
 *
 * @example
 * import { nexusTool } from 'helix-temporal';
 * import { z } from 'zod';
 *
 * export const rate = nexusTool({
 *   name: 'rate',
 *   description: 'Rates a customer.',
 *   inputSchema: z.object({ customer: z.string() }),
 *   endpoint: 'risk',
 *   service: 'RiskService',
 *   operation: 'rate',
 * });
 *
 * @throws DefinitionError
 */
export function nexusTool<
  Input extends z.ZodType,
  Output extends z.ZodType = z.ZodType,
  const Name extends string = string,
>(config: NexusToolConfig<Input, Output, Name>): RemoteTool<Input, Output, Name> {
  const { endpoint, service, operation, ...tool } = config;
  assertSettings(NexusFields, { endpoint, service, operation }, { tool: tool.name });
  const options = { scheduleToCloseTimeout: tool.timeoutMs ?? TIMEOUT_MS };
  return define(tool, { kind: 'nexus', name: operation, endpoint, service, options });
}

/** The work's own time-out must fire first, since it tells more than its caller's. */
const GRACE_MS = 10_000;

function define<Input extends z.ZodType, Output extends z.ZodType, Name extends string>(
  tool: Shared<Input, Output, Name>,
  work: ToolWork,
): RemoteTool<Input, Output, Name> {
  return defineTool<Input, Output, Name>({
    ...tool,
    timeoutMs: work.options.scheduleToCloseTimeout + GRACE_MS,
    // The successor of a lost attempt waits for the same work.
    idempotent: true,
    // The call runs outside the leg, since it may outlast one.
    activity: {},
    execute: async (input, { temporal }) => {
      if (temporal !== undefined) return (await temporal.execute(work, input)) as z.input<Output>;
      throw new ToolError(
        'no_temporal',
        `"${tool.name}" is executed by Temporal, which is not here.`,
      );
    },
  });
}
