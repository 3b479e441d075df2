import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { toMessageText, toTurn, type Reply } from '../../agents/index.js';
import { askCustomer, CustomerChoice } from './ask-customer.js';
import { carryOutRemedy, offerRemedies, toReplacementEnd } from './remedies.js';
import * as replies from './replies.js';
import { toWish, type Wish } from './request.js';
import { Finding, RESEARCH_TOOL } from './research-results.js';
import { findInput, findOutcome, type Outcome } from './results.js';
import { call, say } from './say.js';
import {
  ArticleResult,
  lookupOrder,
  OrderResult,
  refund,
  RefundInput,
  RefundResult,
  ReplacementResult,
  searchArticles,
  sendReplacement,
  formatAmount,
} from './tools.js';

/** What the help desk without a model does next; decided from the prompt alone. */
export function toSupportReply({ prompt }: LanguageModelV4CallOptions): Reply {
  const { userText, since } = toTurn(prompt);
  const refunded = findOutcome(since, refund.name, RefundResult);
  if (refunded) return toRefundEnd(refunded, since);
  const replaced = findOutcome(since, sendReplacement.name, ReplacementResult);
  if (replaced) return toReplacementEnd(replaced);
  const finding = findOutcome(since, RESEARCH_TOOL, Finding);
  if (finding) return say(toAdvice(finding));
  const found = findOutcome(since, searchArticles.name, ArticleResult);
  if (found) return say(replies.toArticleAnswer(found.ok ? found.value.articles : []));

  const wish = toWish(prompt.filter(({ role }) => role === 'user').map(toMessageText));
  const order = findOutcome(since, lookupOrder.name, OrderResult);
  const chosen = findOutcome(since, askCustomer.name, CustomerChoice);
  if (chosen && order?.ok && order.value.found) return carryOutRemedy(order.value, chosen);
  return order ? toOrderReply(order, wish, userText) : toOpening(wish, userText);
}

function toOpening(wish: Wish, userText: string): Reply {
  switch (wish.kind) {
    case 'greeting':
      return say(replies.GREETING);
    case 'thanks':
      return say(replies.THANKS);
    case 'question':
      return call(replies.SEARCH, searchArticles.name, { query: userText.slice(0, 500) });
    case 'advice':
      return call(RESEARCH, RESEARCH_TOOL, { question: userText.slice(0, 500) });
    case 'problem':
    case 'refund':
    case 'order': {
      const { orderId } = wish;
      if (orderId === undefined) return say(replies.ASK_FOR_ORDER);
      return call(replies.LOOK_UP, lookupOrder.name, { orderId });
    }
  }
}

function toOrderReply(order: Outcome<OrderResult>, wish: Wish, userText: string): Reply {
  if (!order.ok) return say(replies.toUnknownOrder('orderId' in wish ? (wish.orderId ?? '') : ''));
  if (!order.value.found) return say(replies.toUnknownOrder(order.value.orderId));
  if (wish.kind === 'problem' && order.value.status === 'delivered') {
    return offerRemedies(order.value);
  }
  if (wish.kind !== 'refund') return say(replies.toOrderAnswer(order.value));
  const { orderId, total } = order.value;
  const amount = Math.min(wish.amount ?? total, total);
  const reason = userText.replace(/\s+/g, ' ').trim().slice(0, 200);
  return call(replies.toRefundIntro(order.value, amount), refund.name, { orderId, amount, reason });
}

function toRefundEnd(outcome: Outcome<RefundResult>, since: LanguageModelV4Prompt): Reply {
  if (!outcome.ok) return say(replies.toRefundRefused(outcome.reason));
  const { toolCallId, changed } = outcome;
  const asked = changed && findInput(since, toolCallId, RefundInput);
  return say(
    replies.toRefundDone(
      outcome.value,
      changed && asked && { amount: asked.amount, by: changed.by },
    ),
  );
}

const RESEARCH =
  'Good question. I will ask our researcher to look through the shop and what customers say.';

/** What the researcher found, as the help desk tells it. */
function toAdvice(outcome: Outcome<Finding>): string {
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
