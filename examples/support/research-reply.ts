import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { FINISH_TOOL_NAME, toTurn, type Reply } from '../../agents/index.js';
import { toAmount } from './request.js';
import { ProductList, ReviewList, type Finding } from './research-results.js';
import { findOutcome, findResults } from './results.js';
import { call, callAll, type Named } from './say.js';

type Product = ProductList['products'][number];

/** How many products are looked at closely. */
const CLOSELY = 2;

/** What the researcher without a model does next; decided from the prompt alone. */
export function toResearchReply({ prompt }: LanguageModelV4CallOptions): Reply {
  const { userText, since } = toTurn(prompt);
  const found = findOutcome(since, 'searchProducts', ProductList);
  if (found === undefined) {
    const most = toAmount(userText);
    return call('', 'searchProducts', { wish: userText, most });
  }
  const products = found.ok ? found.value.products : [];
  const reviewed = findResults(since, 'readReviews', ReviewList);
  if (products.length > 0 && reviewed.length === 0)
    return callAll('', products.slice(0, CLOSELY).map(toReading));
  return call('', FINISH_TOOL_NAME, toFinding(products, reviewed));
}

function toReading({ productId }: Product): Named {
  return { tool: 'readReviews', args: { productId } };
}

function toFinding(products: readonly Product[], reviewed: readonly ReviewList[]): Finding {
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
