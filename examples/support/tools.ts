import { createHash } from 'node:crypto';
import { z } from 'zod';
import { defineTool } from '../../agents/index.js';
import { findArticles, findOrder } from './shop.js';

/** Result of `lookupOrder`. */
export const OrderResult = z.discriminatedUnion('found', [
  z.object({
    found: z.literal(true),
    orderId: z.string(),
    item: z.string(),
    total: z.number(),
    status: z.string(),
    detail: z.string(),
  }),
  z.object({ found: z.literal(false), orderId: z.string() }),
]);
export type OrderResult = z.infer<typeof OrderResult>;

/** Result of `searchArticles`, best article first. */
export const ArticleResult = z.object({
  articles: z.array(z.object({ title: z.string(), body: z.string() })),
});

/** Result of `refund`; the amount in dollars. */
export const RefundResult = z.object({
  refundId: z.string(),
  orderId: z.string(),
  amount: z.number(),
});
export type RefundResult = z.infer<typeof RefundResult>;

/** Result of `sendReplacement`. */
export const ReplacementResult = z.object({
  replacementId: z.string(),
  orderId: z.string(),
});
export type ReplacementResult = z.infer<typeof ReplacementResult>;

/** Input of `refund`; a colleague may edit it before approval. */
export const RefundInput = z.object({
  orderId: z.string().meta({ title: 'Order' }),
  amount: z
    .number()
    .positive()
    .describe('In dollars, at most the total of the order')
    .meta({ format: 'currency:USD' }),
  reason: z.string().describe('Why, in one sentence, for the colleague who decides'),
});

export const lookupOrder = defineTool({
  name: 'lookupOrder',
  title: 'Look up an order',
  description: 'Looks up an order by its number: item, total, status, where the parcel is.',
  inputSchema: z.object({ orderId: z.string().describe('The number of the order, e.g. 1042') }),
  outputSchema: OrderResult,
  execute: ({ orderId }): OrderResult => {
    const order = findOrder(orderId);
    return order ? { found: true, ...order } : { found: false, orderId };
  },
  idempotent: true,
});

export const searchArticles = defineTool({
  name: 'searchArticles',
  title: 'Search the help centre',
  description: 'Searches the help centre: delivery, returns, damage, payment, changes of an order.',
  inputSchema: z.object({ query: z.string().describe('The question in a few words') }),
  outputSchema: ArticleResult,
  execute: ({ query }) => ({ articles: findArticles(query) }),
  idempotent: true,
});

export const refund = defineTool({
  name: 'refund',
  title: 'Refund an order',
  description:
    'Gives money back for an order. A colleague has to agree first, and may change the amount. ' +
    'Look the order up before.',
  inputSchema: RefundInput,
  outputSchema: RefundResult,
  requireApproval: true,
  // Customers talk to this agent: a colleague with the role decides, never the customer.
  approvers: ['approver'],
  separateApprover: true,
  execute: ({ orderId, amount }, { idempotencyKey }) => {
    const order = findOrder(orderId);
    if (order === undefined) throw new Error(`There is no order ${orderId}.`);
    if (amount > order.total) {
      throw new Error(`Order ${order.orderId} cost only ${formatAmount(order.total)}.`);
    }
    return { refundId: toNumber('R', idempotencyKey), orderId: order.orderId, amount };
  },
});

export const sendReplacement = defineTool({
  name: 'sendReplacement',
  title: 'Send a replacement',
  description: 'Sends the item of an order once more, free of charge, when it arrived damaged.',
  inputSchema: z.object({ orderId: z.string() }),
  outputSchema: ReplacementResult,
  execute: ({ orderId }, { idempotencyKey }) => {
    const order = findOrder(orderId);
    if (order === undefined) throw new Error(`There is no order ${orderId}.`);
    if (order.status !== 'delivered') throw new Error(`Order ${orderId} has not been delivered.`);
    return {
      replacementId: toNumber('P', idempotencyKey),
      orderId: order.orderId,
    };
  },
});

/** The page's answer: the id of an option. */
export const CustomerChoice = z.object({ chosen: z.string() });

/** The page executes this tool, so it needs no server and survives a reload. */
export const askCustomer = defineTool({
  name: 'askCustomer',
  title: 'A question for you',
  description:
    'Shows the customer a question with two to six options and returns the id of the one they choose.',
  inputSchema: z.object({
    question: z.string(),
    options: z
      .array(
        z.object({
          id: z.string().describe('Short and unique, for the answer'),
          label: z.string().describe('What the button says'),
          detail: z.string().optional().describe('What choosing it means, in a few words'),
        }),
      )
      .min(2)
      .max(6),
  }),
  outputSchema: CustomerChoice,
  execute: 'client',
  deadlineMs: 600_000,
});

/** Derives a number that is short enough to read out, and equal in every attempt. */
function toNumber(letter: string, idempotencyKey: string): string {
  const digest = createHash('sha256').update(idempotencyKey).digest('hex');
  return `${letter}-${digest.slice(0, 8).toUpperCase()}`;
}

/** Formats dollars. */
export function formatAmount(amount: number): string {
  return `$${amount.toFixed(2)}`;
}
