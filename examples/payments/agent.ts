import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { LanguageModelMiddleware } from 'ai';
import { z } from 'zod';
import {
  defineAgent,
  defineTool,
  type AgentDefinition,
  type LlmSettings,
} from '../../agents/index.js';

/** The bank books each key once and knows the booked keys. */
export interface Bank {
  pay: (amount: number, key: string) => Promise<{ receipt: string }>;
  find: (key: string) => Promise<{ receipt: string } | undefined>;
}

/** An input guard: card numbers reach no model. */
export const hideCards: LanguageModelMiddleware = {
  transformParams: async ({ params }) => ({
    ...params,
    prompt: params.prompt.map((message) => {
      if (message.role !== 'user') return message;
      const content = message.content.map((part) =>
        part.type === 'text' ? { ...part, text: part.text.replace(/\b\d{16}\b/g, '[card]') } : part,
      );
      return { ...message, content };
    }),
  }),
};

/** An output guard: it holds a reply back until its end, and puts a refusal in the place of one with a secret. */
export const hideSecrets: LanguageModelMiddleware = {
  wrapStream: async ({ doStream }) => {
    const { stream, ...rest } = await doStream();
    const held: LanguageModelV4StreamPart[] = [];
    let said = '';
    const guard = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
      transform: (part, controller) => {
        if ('delta' in part) said += part.delta;
        if (part.type === 'error') controller.enqueue(part);
        else held.push(part);
        // Nothing to show, but the model is not silent.
        controller.enqueue({ type: 'raw', rawValue: undefined });
        if (part.type !== 'finish') return;
        const passed = said.includes('secret') ? refusal('I cannot show this.', part) : held;
        for (const each of passed) controller.enqueue(each);
      },
    });
    return { ...rest, stream: stream.pipeThrough(guard) };
  },
};

function refusal(delta: string, end: LanguageModelV4StreamPart & { type: 'finish' }) {
  const finish = { ...end, finishReason: { unified: 'content-filter' as const, raw: undefined } };
  return [{ type: 'text-delta' as const, id: 'refusal', delta }, finish];
}

/**
 * Creates an agent that pays invoices. Card numbers do not reach the model, and receipts' secrets do not
 * reach people. After a worker's death it asks the bank before it repeats a payment.
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
    middleware: [hideCards, hideSecrets],
    llmConfig: { model },
  });
}
