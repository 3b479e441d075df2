import { z } from 'zod';
import { defineAgent, defineTool, type AgentDefinition } from '../../agents/index.js';

/** The bank treats the same key as the same order. */
export interface Bank {
  /** Posts `{ sent }` to the address once the customer has confirmed and the money is out. */
  requestTransfer: (amount: number, key: string, callbackUrl: string) => Promise<void>;
}

const DAY_MS = 24 * 3_600_000;

/** Creates an agent for transfers. Neither a person's approval nor the bank's report days later needs a process. */
export function createTreasury(bank: Bank, model = 'scripted'): AgentDefinition {
  const transfer = defineTool({
    name: 'transfer',
    description: 'Transfers an amount.',
    inputSchema: z.object({ amount: z.number().positive() }),
    outputSchema: z.object({ sent: z.number() }),
    requireApproval: true,
    deadlineMs: 7 * DAY_MS,
    idempotent: true,
    execute: 'webhook',
    send: (url, { amount }, { idempotencyKey }) =>
      bank.requestTransfer(amount, idempotencyKey, url),
  });
  return defineAgent({
    name: 'treasury',
    systemPrompt: 'Transfer what you are asked to.',
    tools: [transfer],
    llmConfig: { model },
  });
}
