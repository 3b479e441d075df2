import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { toMessageText, toTurn, type Reply } from '../../agents/index.js';
import { Finding, RESEARCH_TOOL } from './researcher.js';
import { call, findInput, findOutcome, say, type Outcome } from './results.js';
import { ORDER_IDS } from './shop.js';
import * as tools from './tools.js';
import { formatAmount, type OrderResult } from './tools.js';
import { toWish, type Wish } from './wish.js';

type FoundOrder = Extract<OrderResult, { found: true }>;

/** Returns the next reply of the help desk without a model, from the prompt alone. */
export function toSupportReply({ prompt }: LanguageModelV4CallOptions): Reply {
  const { userText, since } = toTurn(prompt);
  const refunded = findOutcome(since, tools.refund.name, tools.RefundResult);
  if (refunded) return say(toRefundEnd(refunded, since));
  const replaced = findOutcome(since, tools.sendReplacement.name, tools.ReplacementResult);
  if (replaced) return say(toReplacementEnd(replaced));
  const finding = findOutcome(since, RESEARCH_TOOL, Finding);
  if (finding) return say(toAdvice(finding));
  const found = findOutcome(since, tools.searchArticles.name, tools.ArticleResult);
  if (found) return say(toArticleAnswer(found.ok ? found.value.articles : []));

  const wish = toWish(prompt.filter(({ role }) => role === 'user').map(toMessageText));
  const order = findOutcome(since, tools.lookupOrder.name, tools.OrderResult);
  const chosen = findOutcome(since, tools.askCustomer.name, tools.CustomerChoice);
  if (chosen && order?.ok && order.value.found) return carryOutRemedy(order.value, chosen);
  return order ? toOrderReply(order, wish, userText) : toOpening(wish, userText);
}

function toOpening(wish: Wish, userText: string): Reply {
  const query = userText.slice(0, 500);
  switch (wish.kind) {
    case 'greeting':
      return say(GREETING);
    case 'thanks':
      return say('You are very welcome! Our conversation stays where it is: write again any time.');
    case 'question':
      return call('Let me see what our help centre says.', tools.searchArticles.name, { query });
    case 'advice':
      return call('I will ask our researcher to look.', RESEARCH_TOOL, { question: query });
    case 'problem':
    case 'refund':
    case 'order': {
      const { orderId } = wish;
      if (orderId === undefined) return say(ASK_FOR_ORDER);
      return call('One moment, I will look that order up.', tools.lookupOrder.name, { orderId });
    }
  }
}

function toOrderReply(order: Outcome<OrderResult>, wish: Wish, userText: string): Reply {
  if (!order.ok || !order.value.found) {
    const orderId = order.ok ? order.value.orderId : 'orderId' in wish ? (wish.orderId ?? '') : '';
    return say(
      `I am sorry, but I cannot find an order with the number ${orderId}. The orders that I can see ` +
        `here are ${ORDER_IDS.join(', ')}. Send me the number once more and I will look again.`,
    );
  }
  const { orderId, item, total, status, detail } = order.value;
  if (wish.kind === 'problem' && status === 'delivered') return offerRemedies(order.value);
  if (wish.kind !== 'refund') {
    return say(
      `Order ${orderId} is ${item}, for which you paid ${formatAmount(total)}. Its status is ` +
        `"${status}". ${detail}. I can also get you a refund for it: just say so, and I will ask a ` +
        'colleague to agree.',
    );
  }
  const amount = Math.min(wish.amount ?? total, total);
  const reason = userText.replace(/\s+/g, ' ').trim().slice(0, 200);
  return call(
    `I have found it: ${item}, for which you paid ${formatAmount(total)}. I will ask a colleague to ` +
      `agree to a refund of ${formatAmount(amount)} now.`,
    tools.refund.name,
    { orderId, amount, reason },
  );
}

/** Share of the price that is refunded if the customer keeps a damaged item. */
const KEPT_SHARE = 0.3;

/** Lets the customer choose what to do about a damaged item. */
function offerRemedies({ item, total }: FoundOrder): Reply {
  return call(
    `I am sorry to hear that! You paid ${formatAmount(total)} for ${item}, and you may choose how we ` +
      'put this right. Your choice is below.',
    tools.askCustomer.name,
    {
      question: 'What would you like us to do?',
      options: [
        { id: 'replacement', label: 'Send me a new one', detail: 'At once, free of charge' },
        {
          id: 'refund',
          label: 'Give me my money back',
          detail: `All of it, ${formatAmount(total)}`,
        },
        { id: 'keep', label: 'I keep it', detail: `For ${formatAmount(toKept(total))} back` },
      ],
    },
  );
}

function carryOutRemedy(
  { orderId, total }: FoundOrder,
  choice: Outcome<{ chosen: string }>,
): Reply {
  if (!choice.ok) {
    return say(
      'You have not chosen, which is fine: nothing has been decided and nothing has changed. Tell ' +
        'me again that it arrived damaged whenever you like, and I will show you the same options.',
    );
  }
  const { chosen } = choice.value;
  if (chosen === 'replacement') {
    return call('Of course, I will have a new one sent.', tools.sendReplacement.name, { orderId });
  }
  const isAll = chosen === 'refund';
  return call('I will ask a colleague to agree to that.', tools.refund.name, {
    orderId,
    amount: isAll ? total : toKept(total),
    reason: `It arrived damaged, and the customer ${isAll ? 'chose their money back' : 'keeps it for part of the price'}.`,
  });
}

function toKept(total: number): number {
  return Math.round(total * KEPT_SHARE * 100) / 100;
}

function toReplacementEnd(outcome: Outcome<{ replacementId: string; orderId: string }>): string {
  if (!outcome.ok) {
    return `I am sorry, but I could not have a new one sent: "${outcome.reason}". I can ask for a refund instead: just say so.`;
  }
  const { replacementId, orderId } = outcome.value;
  return (
    `It is done: a new one for order ${orderId} leaves our warehouse today. Its number is ` +
    `${replacementId}; you will get a tracking link as soon as the carrier has it. You need not send ` +
    'the damaged one back.'
  );
}

/** Reports the outcome of a refund and a colleague's edits. */
function toRefundEnd(
  outcome: Outcome<{ refundId: string; orderId: string; amount: number }>,
  since: LanguageModelV4Prompt,
): string {
  if (!outcome.ok) {
    const because =
      outcome.reason === '' ? '' : ` The reason that I was given is: "${outcome.reason}".`;
    return (
      `I am sorry: the refund was not made.${because} Nothing has been paid back, and your order is as ` +
      'it was before. If you think that this is a mistake, tell me more, and I will ask again.'
    );
  }
  const { refundId, orderId, amount } = outcome.value;
  const { toolCallId, changed } = outcome;
  const asked = changed && findInput(since, toolCallId, tools.RefundInput);
  const isChanged = asked !== undefined && asked.amount !== amount;
  const who = changed === undefined || changed.by === 'anonymous' ? 'A colleague' : changed.by;
  const change = isChanged
    ? ` ${who} changed the amount; I had asked for ${formatAmount(asked.amount)}.`
    : '';
  return (
    `Good news: the refund was approved.${change} ${formatAmount(amount)} for order ${orderId} are on ` +
    `their way back to the card that you paid with. The number of the refund is ${refundId}. Is there ` +
    'anything else that I can do for you today?'
  );
}

function toArticleAnswer([best, other]: readonly { title: string; body: string }[]): string {
  if (best === undefined) {
    return 'I have searched our help centre, but found nothing that answers this. Put it in other words, or give me the number of an order.';
  }
  const more = other ? ` There is also a page called "${other.title}".` : '';
  return `This is what our help centre says under "${best.title}". ${best.body}${more} Does that answer your question?`;
}

/** Puts the researcher's finding into the help desk's words. */
function toAdvice(outcome: Outcome<Finding>): string {
  if (!outcome.ok)
    return 'I am sorry, but our researcher could not be reached. Please ask me again.';
  const { recommended, why, alternatives } = outcome.value;
  if (recommended === undefined) {
    return 'Our researcher has looked through the shop and found nothing that fits. Tell me what it is for, and what it may cost, and I will ask again.';
  }
  const others = alternatives.length === 0 ? '' : ` We also looked at: ${alternatives.join('; ')}.`;
  return (
    `Our researcher recommends this one: ${recommended.name}, for ${formatAmount(recommended.price)}. ` +
    `${why}${others} You may return anything within thirty days.`
  );
}

const GREETING =
  'Hello, and welcome to the help desk! I can look up an order, answer questions about delivery, ' +
  'returns and payment, recommend a gift, and get you a refund, which a colleague has to agree to ' +
  'first. Try order 1042: ask where it is, or say that it arrived broken. You can close this page ' +
  'at any time: when you come back, our conversation will be here.';

const ASK_FOR_ORDER =
  'I can certainly look into that. Could you tell me the number of the order? It is at the top of ' +
  'the confirmation that we sent you, and has four digits, like 1042.';
