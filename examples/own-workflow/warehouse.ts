import { z } from 'zod';
import { defineAgent, type AgentDefinition, type LlmSettings } from '../../agents/index.js';
import { activityTool, nexusTool } from '../../extensions/temporal-tools/index.js';

const order = z.object({ orderId: z.string() });

/**
 * Creates an agent with tools on your own workers, in any language: an activity that a person approves, and
 * an operation of a Nexus endpoint.
 */
export function createWarehouseClerk(
  { taskQueue, endpoint }: { taskQueue: string; endpoint: string },
  model: LlmSettings['model'],
): AgentDefinition {
  return defineAgent({
    name: 'warehouse-clerk',
    systemPrompt: 'You help the warehouse.',
    tools: [
      activityTool({
        name: 'ship',
        description: 'Ships an order.',
        inputSchema: order,
        requireApproval: true,
        activity: 'ShipOrder',
        taskQueue,
        startToCloseTimeout: 60_000,
      }),
      nexusTool({
        name: 'rate',
        description: 'Rates the customer of an order.',
        inputSchema: order,
        endpoint,
        service: 'Risk',
        operation: 'rate',
      }),
    ],
    llmConfig: { model },
  });
}
