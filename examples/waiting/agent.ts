import { z } from 'zod';
import { defineAgent, defineTool, type AgentDefinition } from '../../agents/index.js';

/** The bank behind the tool. The same key is the same order. */
export interface Bank {
  reserve: (amount: number, key: string) => Promise<{ order: string }>;
  /** Calls the address with `{ code }` when the customer has confirmed. */
  requestConfirmation: (order: string, callbackUrl: string) => Promise<void>;
  send: (order: string, amount: number, code: string) => Promise<{ sent: number }>;
}

const HOUR_MS = 3_600_000;

/**
 * A transfer that reserves, asks a colleague for the limit, waits until the bank reports the
 * customer's confirmation, waits another hour, and then sends. No process is needed in between.
 */
export function createTreasury(bank: Bank, model = 'scripted'): AgentDefinition {
  const transfer = defineTool({
    name: 'transfer',
    description: 'Transfers an amount.',
    inputSchema: z.object({ amount: z.number().positive() }),
    execute: async ({ amount }, context) => {
      const { step, suspend, waitForWebhook, sleep, idempotencyKey } = context;
      const { order } = await step('reserve', () => bank.reserve(amount, idempotencyKey));
      const { limit } = await suspend({
        name: 'choose_limit',
        schema: z.object({ limit: z.number().positive() }),
        data: { question: `How much of ${String(amount)} may go out?` },
        deadlineMs: 7 * 24 * HOUR_MS,
      });
      const { code } = await waitForWebhook({
        name: 'confirmed',
        send: (url) => bank.requestConfirmation(order, url),
        schema: z.object({ code: z.string() }),
        deadlineMs: 24 * HOUR_MS,
      });
      await sleep(Date.now() + HOUR_MS);
      return step('send', () => bank.send(order, Math.min(amount, limit), code));
    },
  });
  return defineAgent({
    name: 'treasury',
    systemPrompt: 'Transfer what you are asked to.',
    tools: [transfer],
    llmConfig: { model },
  });
}
