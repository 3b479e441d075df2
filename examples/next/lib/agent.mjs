// The agent that app and worker share.
import { defineAgent, defineTool, modelFromSpec } from 'helix-temporal';
import { z } from 'zod';

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back to a customer.',
  inputSchema: z.object({ order: z.string(), amount: z.number().positive() }),
  requireApproval: true,
  execute: ({ order, amount }) => ({ paid: `${amount} for ${order}` }),
});

/** MODEL=openai:… or anthropic:… with its key selects a model; without one the agent performs scripts. */
export const agent = defineAgent({
  name: 'desk',
  systemPrompt: 'You help customers of a shop. Refunds are decided by a person.',
  tools: [refund],
  llmConfig: { model: await modelFromSpec(process.env.MODEL, process.env) },
});
