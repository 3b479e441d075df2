import { formatAmount } from './tools.js';
import type { Finding } from './research-results.js';
import type { Outcome } from './results.js';

export const RESEARCH =
  'Good question. I will ask our researcher to look through the shop and what customers say.';

/** What the researcher found, as the help desk tells it. */
export function toAdvice(outcome: Outcome<Finding>): string {
  if (!outcome.ok) return NO_RESEARCH;
  const { recommended, why, alternatives } = outcome.value;
  if (recommended === undefined) return NOTHING_FITS;
  const others = alternatives.length === 0 ? '' : ` We also looked at: ${alternatives.join('; ')}.`;
  return (
    `Our researcher recommends this one: ${recommended.name}, for ${formatAmount(recommended.price)}. ` +
    `${why}${others} You may return anything within thirty days, so there is no risk in trying it. ` +
    'If you tell me more about your taste, or what it may cost at most, I will have it looked at ' +
    'again. Of course I can also help you with an order that you have already made.'
  );
}

const NOTHING_FITS =
  'Our researcher has looked through the shop and found nothing that fits, and I would rather say ' +
  'so than sell you something that you do not need. We have things for coffee, for the kitchen, ' +
  'for the bedroom and for the wall. Tell me what it is for, and what it may cost at most, and I ' +
  'will ask again. Customers ask most often for a gift for coffee lovers.';

const NO_RESEARCH =
  'I am sorry, but our researcher could not be reached just now, and I would rather say so than ' +
  'guess. Please ask me again in a moment: your question is not lost, it stands above in our ' +
  'conversation. Meanwhile I can look up an order for you, answer a question about delivery, ' +
  'returns or payment, or get you a refund for something that did not turn out well.';
