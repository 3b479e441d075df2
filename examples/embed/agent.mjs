// The agent that worker and client share.
import { defineAgent, defineTool, modelFromSpec } from 'helix-temporal';
import { z } from 'zod';

const clock = defineTool({
  name: 'clock',
  description: 'Tells the time.',
  inputSchema: z.object({}),
  execute: () => ({ now: new Date().toISOString() }),
});

/** MODEL=openai:… or anthropic:… with its key selects a model; without one the agent follows its own rules. */
export const timekeeper = defineAgent({
  name: 'timekeeper',
  systemPrompt: 'You tell the time. Use the clock.',
  tools: [clock],
  llmConfig: { model: await modelFromSpec(process.env.MODEL, process.env) },
});
