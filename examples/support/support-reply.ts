import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { createReply, cutWords, toMessageText, toTurn, type Reply } from '../../agents/index.js';
import * as replies from './replies.js';
import { toWish, type Wish } from './request.js';
import { findOutcome, type Outcome } from './results.js';
import {
  ArticleResult,
  lookupOrder,
  OrderResult,
  refund,
  RefundResult,
  searchArticles,
} from './tools.js';

/** A pace at which one can read along, in ms a word. */
const WORD_MS = 25;

/** What the help desk without a model does next; decided from the prompt alone. */
export function toSupportReply({ prompt }: LanguageModelV4CallOptions): Reply {
  const { userText, since } = toTurn(prompt);
  const refunded = findOutcome(since, refund.name, RefundResult);
  if (refunded) return toRefundEnd(refunded);
  const found = findOutcome(since, searchArticles.name, ArticleResult);
  if (found) return say(replies.toArticleAnswer(found.ok ? found.value.articles : []));

  const wish = toWish(prompt.filter(({ role }) => role === 'user').map(toMessageText));
  const order = findOutcome(since, lookupOrder.name, OrderResult);
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
  if (wish.kind !== 'refund') return say(replies.toOrderAnswer(order.value));
  const { orderId, total } = order.value;
  const amount = Math.min(wish.amount ?? total, total);
  const reason = userText.replace(/\s+/g, ' ').trim().slice(0, 200);
  return call(replies.toRefundIntro(order.value, amount), refund.name, { orderId, amount, reason });
}

function toRefundEnd(outcome: Outcome<RefundResult>): Reply {
  return say(
    outcome.ok ? replies.toRefundDone(outcome.value) : replies.toRefundRefused(outcome.reason),
  );
}

function say(text: string): Reply {
  return createReply({ pieces: cutWords(text), everyMs: WORD_MS });
}

function call(text: string, tool: string, args: object): Reply {
  const input = JSON.stringify(args);
  const id = `call-${crypto.randomUUID()}`;
  return { ...say(text), calls: [{ tool, id, input, inputPieces: [input] }] };
}
