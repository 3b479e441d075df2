/** A customer's wish, as far as a few rules can tell. */
export type Wish =
  | { readonly kind: 'greeting' }
  | { readonly kind: 'thanks' }
  /** If the order number is missing, the desk asks for it. */
  | { readonly kind: 'order'; readonly orderId: string | undefined }
  | { readonly kind: 'refund'; readonly orderId: string | undefined; readonly amount?: number }
  /** The customer reports a problem with an order. */
  | { readonly kind: 'problem'; readonly orderId: string }
  /** The customer asks what to buy. */
  | { readonly kind: 'advice' }
  | { readonly kind: 'question' };

const REFUND = /\brefund|\bmoney back\b|\breimburse/i;
const ORDER_ID = /(?<![\d$€.,])#?(\d{4,6})(?![\d.,]*\d)(?!\s?(?:dollars|euros?|€))/i;
const WHEREABOUTS = /\b(?:where|when|status|track)\b.*\b(?:my|the) (?:order|parcel|package)\b/is;
const AMOUNT =
  /(?:\$|€|\bUSD\s?)\s?(\d+(?:\.\d{1,2})?)|(\d+(?:\.\d{1,2})?)\s?(?:dollars|euros?|€)/i;
const PROBLEM = /\b(?:broke|broken|damaged|cracked|scratched|faulty|defect\w*|wrong item)\b/i;
const ADVICE =
  /\b(?:recommend|suggest|advi[cs]e|compare|a (?:gift|present)|looking for|should i (?:buy|get|choose))\b/i;
const GREETING =
  /^\s*(?:hi|hello|hey|good (?:morning|evening|afternoon)|help)\b[^a-z]*(?:there|you)?[^a-z]*$/i;
const THANKS = /\bthank|\bthanks\b|\bthat(?:'s| is) all\b|\bbye\b/i;

/**
 * Interprets the newest message in the light of the earlier ones: a bare number answers the question for it,
 * and a refund without a number concerns the last order mentioned.
 *
 * @param texts the customer's messages, oldest first
 */
export function toWish(texts: readonly string[]): Wish {
  const text = texts.at(-1) ?? '';
  const earlier = texts.slice(0, -1);
  const orderId = toOrderId(text);
  const isAnswer = orderId !== undefined && asksForRefundWithoutOrder(earlier.at(-1));
  if (REFUND.test(text) || isAnswer) {
    const amount = toAmount(text) ?? (isAnswer ? toAmount(earlier.at(-1) ?? '') : undefined);
    return { kind: 'refund', orderId: orderId ?? toLastOrderId(earlier), amount };
  }
  if (PROBLEM.test(text)) {
    const about = orderId ?? toLastOrderId(earlier);
    if (about !== undefined) return { kind: 'problem', orderId: about };
  }
  if (orderId !== undefined) return { kind: 'order', orderId };
  if (WHEREABOUTS.test(text)) return { kind: 'order', orderId: toLastOrderId(earlier) };
  if (text.trim() === '' || GREETING.test(text)) return { kind: 'greeting' };
  if (THANKS.test(text)) return { kind: 'thanks' };
  if (ADVICE.test(text)) return { kind: 'advice' };
  return { kind: 'question' };
}

function toOrderId(text: string): string | undefined {
  return ORDER_ID.exec(text)?.[1];
}

function toLastOrderId(texts: readonly string[]): string | undefined {
  return texts.map(toOrderId).findLast((orderId) => orderId !== undefined);
}

/** Parses an amount in dollars or euros; undefined if the text has none. */
export function toAmount(text: string): number | undefined {
  const match = AMOUNT.exec(text);
  const amount = Number(match?.[1] ?? match?.[2]);
  return amount > 0 ? amount : undefined;
}

function asksForRefundWithoutOrder(text: string | undefined): boolean {
  return text !== undefined && REFUND.test(text) && toOrderId(text) === undefined;
}
