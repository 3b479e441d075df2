// This app's agents. `npm run dev` applies your changes while it runs.
import { defineAgent, defineTool, modelFromSpec } from 'helix-temporal';
import { z } from 'zod';
import { payBack } from './payments.js';
import { createPracticeModel } from './practice-model.js';

const lookupOrder = defineTool({
  name: 'lookupOrder',
  title: 'Look up an order',
  description: 'Looks an order up by its number.',
  inputSchema: z.object({ order: z.string() }),
  // It changes nothing, so it may run again after a crash.
  idempotent: true,
  execute: ({ order }) => ({ order, item: 'Teapot', total: 48.5, status: 'delivered' }),
});

const refund = defineTool({
  name: 'refund',
  title: 'Refund an order',
  description: 'Pays money back to a customer.',
  inputSchema: z.object({
    order: z.string(),
    amount: z.number().positive().describe('In dollars.').meta({ format: 'currency:USD' }),
  }),
  // A person decides. The run waits without a process and across deploys; after a week it counts as denied.
  requireApproval: true,
  deadlineMs: 7 * 24 * 60 * 60 * 1_000,
  // The key is the same in every attempt: give it to your payment provider.
  execute: ({ order, amount }, { idempotencyKey }) => payBack({ order, amount }, idempotencyKey),
});

// MODEL=openai:<id>, anthropic:<id>, google:<id> … with its key in .env; without one, a few rules stand in.
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
  // The page shows this before the first message.
  page: {
    title: 'Help desk',
    openers: ['Where is order 1042?', 'I want a refund for order 1042'],
  },
});
