import type { LanguageModelV4 } from '@ai-sdk/provider';
import { z } from 'zod';
import {
  createReplyModel,
  createSubAgentTool,
  defineAgent,
  defineTool,
  type LlmSettings,
  type ToolDefinition,
} from '../../agents/index.js';
import { RULE_PRICES } from '../rule-prices.js';
import { findProducts, findReviews } from './products.js';
import { toResearchReply } from './research-reply.js';
import { Finding, ProductList, RESEARCH_TOOL, ReviewList } from './research-results.js';

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
    most: z.number().positive().optional().describe('What it may cost at most, in dollars'),
  }),
  outputSchema: ProductList,
  execute: ({ wish, most }) => ({ products: findProducts(wish, most) }),
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

/** Has an agent of its own look through products and reviews. */
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
