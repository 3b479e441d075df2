import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { z } from 'zod';
import {
  createReplyModel,
  createSubAgentTool,
  defineAgent,
  defineTool,
  FINISH_TOOL_NAME,
  toTurn,
  type LlmSettings,
  type ToolDefinition,
  type Reply,
} from '../../agents/index.js';
import { RULE_PRICES } from '../rule-prices.js';
import { call, callAll, findOutcome, findResults } from './results.js';
import { findProducts, findReviews } from './shop.js';
import { toAmount } from './wish.js';

/** The tool by which the help desk delegates to the researcher. */
export const RESEARCH_TOOL = 'research';

const ProductList = z.object({
  products: z.array(z.object({ productId: z.string(), name: z.string(), price: z.number() })),
});
type ProductList = z.infer<typeof ProductList>;

const ReviewList = z.object({
  productId: z.string(),
  reviews: z.array(z.object({ stars: z.number(), text: z.string() })),
});

/** The result of a research. */
export const Finding = z.object({
  /** Absent if no product fits. */
  recommended: z.object({ name: z.string(), price: z.number() }).optional(),
  why: z.string(),
  /** Names of the other products considered. */
  alternatives: z.array(z.string()).default([]),
});
export type Finding = z.infer<typeof Finding>;

const SYSTEM_PROMPT = `You research products of a small shop for a colleague of the help desk.

- Search the products first, then read the reviews of the two that fit best, both at once.
- Recommend one of them, and say why in one or two sentences that quote what customers say.
- If nothing fits, say so and recommend nothing. Never invent a product, a price or a review.`;

const searchProducts = defineTool({
  name: 'searchProducts',
  title: 'Search products',
  description: 'Finds products of the shop by what they are for; with prices in dollars.',
  inputSchema: z.object({
    wish: z.string().describe('What the customer looks for, in a few words'),
    max: z.number().positive().optional().describe('What it may cost at most, in dollars'),
  }),
  outputSchema: ProductList,
  execute: ({ wish, max }) => ({ products: findProducts(wish, max) }),
  idempotent: true,
});

const readReviews = defineTool({
  name: 'readReviews',
  title: 'Read reviews',
  description: 'Reads what customers wrote about a product.',
  inputSchema: z.object({ productId: z.string() }),
  outputSchema: ReviewList,
  execute: ({ productId }) => {
    const reviews = findReviews(productId);
    if (reviews === undefined) throw new Error(`There is no product ${productId}.`);
    return { productId, reviews: [...reviews] };
  },
  idempotent: true,
});

/** Creates the tool whose sub-agent looks through products and reviews. */
export function createResearch(model?: LlmSettings['model']): ToolDefinition {
  return createSubAgentTool({
    name: RESEARCH_TOOL,
    description:
      'Has a researcher look through our products and their reviews and recommend one. ' +
      'For customers who want advice on what to buy; it takes a moment.',
    inputSchema: z.object({
      question: z.string().describe('What the customer looks for, with budget and taste'),
    }),
    toMessage: ({ question }) => question,
    agent: defineAgent({
      name: 'researcher',
      page: { title: 'Researcher', listed: false },
      description: 'Compares products of the shop by their reviews.',
      systemPrompt: SYSTEM_PROMPT,
      tools: [searchProducts, readReviews],
      outputSchema: Finding,
      llmConfig:
        model === undefined ? { model: createResearchModel(), pricing: RULE_PRICES } : { model },
    }),
  });
}

function createResearchModel(): LanguageModelV4 {
  return createReplyModel({
    provider: 'helix-support',
    modelId: 'researcher-rules',
    toReply: toResearchReply,
  });
}

/** Number of products to examine closely. */
const CLOSELY = 2;

/** Returns the next reply of the researcher without a model, from the prompt alone. */
export function toResearchReply({ prompt }: LanguageModelV4CallOptions): Reply {
  const { userText, since } = toTurn(prompt);
  const found = findOutcome(since, 'searchProducts', ProductList);
  if (found === undefined) {
    const max = toAmount(userText);
    return call('', 'searchProducts', { wish: userText, max });
  }
  const products = found.ok ? found.value.products : [];
  const reviewed = findResults(since, 'readReviews', ReviewList);
  if (products.length > 0 && reviewed.length === 0)
    return callAll(
      '',
      ...products
        .slice(0, CLOSELY)
        .map(({ productId }) => ({ tool: 'readReviews', args: { productId } })),
    );
  return call('', FINISH_TOOL_NAME, toFinding(products, reviewed));
}

function toFinding(
  products: ProductList['products'],
  reviewed: readonly z.infer<typeof ReviewList>[],
): Finding {
  const [best] = reviewed
    .map(({ productId, reviews }) => ({
      product: products.find((product) => product.productId === productId),
      stars: reviews.reduce((sum, { stars }) => sum + stars, 0) / Math.max(reviews.length, 1),
      quote: reviews[0]?.text ?? '',
    }))
    .sort((a, b) => b.stars - a.stars);
  if (best?.product === undefined) {
    return { why: 'Nothing in the shop fits.', alternatives: [] };
  }
  const { name, price } = best.product;
  return {
    recommended: { name, price },
    why: `Customers give it ${best.stars.toFixed(1)} of 5 stars. One of them says: "${best.quote}"`,
    alternatives: products.filter((product) => product !== best.product).map(({ name }) => name),
  };
}
