// The agents of this app. `npm run dev` takes over what you change here while it runs.
import { defineAgent, defineTool, modelFromSpec } from 'helix-temporal';
import { z } from 'zod';
import { payBack } from './payments.js';
import { createPracticeModel } from './practice-model.js';

const lookupOrder = defineTool({
  name: 'lookupOrder',
  description: 'Looks an order up by its number.',
  inputSchema: z.object({ order: z.string() }),
  // It changes nothing, so it may run again after a crash.
  idempotent: true,
  execute: ({ order }) => ({ order, item: 'Teapot', total: 48.5, status: 'delivered' }),
});

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back to a customer.',
  inputSchema: z.object({
    order: z.string(),
    amount: z.number().positive().describe('In dollars.'),
  }),
  // A person decides. The run waits without a process, for weeks if it must, and across deploys.
  requireApproval: true,
  // The key is the same in every attempt: give it to your payment provider.
  execute: ({ order, amount }, { idempotencyKey }) => payBack({ order, amount }, idempotencyKey),
});

// MODEL=openai:<id> or anthropic:<id> with its key in .env; without one, a few rules stand in.
const { MODEL } = process.env;
const model = MODEL ? await modelFromSpec(MODEL, process.env) : createPracticeModel();

export const desk = defineAgent({
  name: 'desk',
  description: 'Help desk of a small shop.',
  systemPrompt:
    'You are the help desk of a small shop. Look an order up before you talk about it. ' +
    'For a refund call refund; a colleague decides, so promise nothing.',
  tools: [lookupOrder, refund],
  llmConfig: { model },
});
