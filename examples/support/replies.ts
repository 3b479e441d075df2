import type { Article } from './articles.js';
import { EXAMPLE_ORDER_ID, ORDER_IDS } from './orders.js';
import { formatAmount, type OrderResult, type RefundResult } from './tools.js';

type FoundOrder = Extract<OrderResult, { found: true }>;

export const GREETING =
  'Hello, and welcome to the help desk! I can look up an order and tell you where your parcel is, ' +
  'answer questions about delivery, returns, damage, payment and changes of an order, and get you ' +
  'a refund, which a colleague has to agree to first. If you would like to try it, ask me about ' +
  `order ${EXAMPLE_ORDER_ID}, say that you want a refund for it or that it arrived broken, or ask me to ` +
  'recommend a gift for a coffee lover. You can close this page at any time: when you ' +
  'come back, our conversation will be here.';

export const THANKS =
  'You are very welcome! I am glad that I could help. If anything else comes up, about this order ' +
  'or another one, just write here again; our conversation stays where it is, so you will not ' +
  'have to explain anything twice. Have a good day, and enjoy what you ordered!';

export const ASK_FOR_ORDER =
  'I can certainly look into that for you. So that I get the right order: could you tell me its ' +
  'number? You will find it at the top of the confirmation that we sent you, and on your order ' +
  `page; it has four digits, like ${EXAMPLE_ORDER_ID}. Once I have it I will check what was ordered, what ` +
  'was paid and where the parcel is. If it is a refund that you want, a colleague has to agree to ' +
  'it, which usually takes no more than a moment.';

export const NO_ARTICLE =
  'I have searched our help centre, but found nothing that answers this. I would rather say so ' +
  'than guess. You could put the question in other words; I know most about delivery times, ' +
  'returns, damaged items, payment and changes of an order. Or give me the number of an order, ' +
  `such as ${EXAMPLE_ORDER_ID}, and I will tell you where it stands and what can still be done about it.`;

export const LOOK_UP = 'One moment, I will look that order up for you.';
export const SEARCH = 'Let me see what our help centre says about that.';

export function toRefundIntro({ item, total }: FoundOrder, amount: number): string {
  return (
    `I have found it: ${item}, for which you paid ${formatAmount(total)}. I will ask a colleague to ` +
    `agree to a refund of ${formatAmount(amount)} now.`
  );
}

export function toOrderAnswer({ orderId, item, total, status, detail }: FoundOrder): string {
  return (
    `Here is what I found. Order ${orderId} is ${item}, for which you paid ${formatAmount(total)}. ` +
    `Its status is "${status}". ${detail}. If that does not match what you see on your side, let me ` +
    'know and I will look into it. I can also get you a refund for this order: just say so, and I ' +
    'will ask a colleague to agree to it. For anything about returns or damage, ask away, and I ' +
    'will find the right page of our help centre for you.'
  );
}

export function toUnknownOrder(orderId: string): string {
  return (
    `I am sorry, but I cannot find an order with the number ${orderId}. Perhaps a digit is missing ` +
    'or two have changed places; you will find the number at the top of the confirmation that we ' +
    `sent you. The orders that I can see here are ${ORDER_IDS.join(', ')}. Send me the number once ` +
    'more and I will look again, or tell me what happened in your own words, and we will find ' +
    'another way to help you.'
  );
}

export function toArticleAnswer([best, other]: readonly Article[]): string {
  if (best === undefined) return NO_ARTICLE;
  const more = other ? ` There is also a page called "${other.title}", if that is closer.` : '';
  return (
    `This is what our help centre says under "${best.title}". ${best.body}${more} Does that answer ` +
    'your question? If it is about an order of yours, give me its number and I will look it up.'
  );
}

/** @param asked what the agent had asked for, and who changed it, if it was changed */
export function toRefundDone(
  { refundId, orderId, amount }: RefundResult,
  asked?: { amount: number; by: string },
): string {
  const who = asked === undefined || asked.by === 'anonymous' ? 'A colleague' : asked.by;
  const changed =
    asked === undefined || asked.amount === amount
      ? ''
      : ` ${who} changed the amount; I had asked for ${formatAmount(asked.amount)}.`;
  return (
    `Good news: the refund was approved.${changed} ${formatAmount(amount)} for order ${orderId} are ` +
    'on their way back to the card or account that you paid with. Most banks show the money within ' +
    `three working days. The number of the refund is ${refundId}; please keep it in case you need to ask ` +
    'about it. You do not have to send anything back for this. Is there anything else that I can ' +
    'do for you today?'
  );
}

/** @param reason the words of the colleague, or the refund's error; may be empty */
export function toRefundRefused(reason: string): string {
  const because = reason === '' ? '' : ` The reason that I was given is: "${reason}".`;
  return (
    `I am sorry: the refund was not made.${because} Nothing has been charged or paid back, and your ` +
    'order is as it was before. If you think that this is a mistake, tell me a little more about ' +
    'what happened, and I will ask again with your explanation. You can also return the item ' +
    'within thirty days of delivery, free of charge; ask me about returns and I will show you how.'
  );
}
