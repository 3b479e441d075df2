import { z } from 'zod';
import {
  defineAgent,
  defineTool,
  type AgentDefinition,
  type LlmSettings,
} from '../../agents/index.js';

/** The bank behind the tool: it books a key once, and knows which keys it has booked. */
export interface Bank {
  pay: (amount: number, key: string) => Promise<{ receipt: string }>;
  find: (key: string) => Promise<{ receipt: string } | undefined>;
}

/**
 * Pays invoices. Card numbers do not reach the model, and no receipt's secret reaches people; a payment whose
 * worker died is looked up at the bank before anything is done again.
 */
export function createPayer(bank: Bank, model: LlmSettings['model']): AgentDefinition {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays an invoice.',
    inputSchema: z.object({ amount: z.number().positive() }),
    requireApproval: ({ amount }) => amount > 100,
    execute: ({ amount }, { idempotencyKey }) => bank.pay(amount, idempotencyKey),
    verify: async (_input, { idempotencyKey }) => {
      const result = await bank.find(idempotencyKey);
      return result === undefined ? { outcome: 'not_done' } : { outcome: 'done', result };
    },
  });
  return defineAgent({
    name: 'payer',
    systemPrompt: 'You pay invoices.',
    tools: [pay],
    guardrails: {
      input: [({ text }) => ({ rewrite: text.replace(/\b\d{16}\b/g, '[card]') })],
      output: [({ text }) => (text.includes('secret') ? { refuse: 'I cannot show this.' } : true)],
    },
    llmConfig: { model },
  });
}
