import type { Reply } from '../../agents/index.js';
import { askCustomer, type CustomerChoice } from './ask-customer.js';
import type { Outcome } from './results.js';
import { call, say } from './say.js';
import { formatAmount, refund, sendReplacement, type OrderResult } from './tools.js';
import type { ReplacementResult } from './tools.js';

type FoundOrder = Extract<OrderResult, { found: true }>;

/** Part of the price that comes back when the customer keeps a damaged item. */
const KEPT_SHARE = 0.3;

/** Lets the customer choose what to do about a damaged item. */
export function offerRemedies({ item, total }: FoundOrder): Reply {
  return call(
    `I am sorry to hear that! You paid ${formatAmount(total)} for ${item}, and you may choose how we ` +
      'put this right. Your choice is below.',
    askCustomer.name,
    {
      question: 'What would you like us to do?',
      options: [
        {
          id: 'replacement',
          label: 'Send me a new one',
          detail: 'At once, free of charge; keep the old one',
        },
        {
          id: 'refund',
          label: 'Give me my money back',
          detail: `All of it, ${formatAmount(total)}`,
        },
        {
          id: 'keep',
          label: 'I keep it',
          detail: `For ${formatAmount(toKeptRefund(total))} back`,
        },
      ],
    },
  );
}

/** Carries out what the customer chose. */
export function carryOutRemedy(
  { orderId, total }: FoundOrder,
  choice: Outcome<CustomerChoice>,
): Reply {
  if (!choice.ok) return say(NOT_CHOSEN);
  switch (choice.value.chosen) {
    case 'replacement':
      return call('Of course, I will have a new one sent.', sendReplacement.name, { orderId });
    case 'refund':
      return call('I will ask a colleague to agree to the refund.', refund.name, {
        orderId,
        amount: total,
        reason: 'It arrived damaged, and the customer chose their money back.',
      });
    default:
      return call('I will ask a colleague to agree to that.', refund.name, {
        orderId,
        amount: toKeptRefund(total),
        reason: 'It arrived damaged, and the customer keeps it for part of the price.',
      });
  }
}

function toKeptRefund(total: number): number {
  return Math.round(total * KEPT_SHARE * 100) / 100;
}

const NOT_CHOSEN =
  'You have not chosen, which is fine: nothing has been decided and nothing has changed. You may ' +
  'want to look at the item once more first, or to talk it over with a friend. Write to me again ' +
  'whenever you like and tell me that it arrived damaged, and I will show you the same three ' +
  'options: a new one, your money back, or part of the price while you keep it.';

export function toReplacementEnd(outcome: Outcome<ReplacementResult>): Reply {
  if (!outcome.ok) {
    return say(
      `I am sorry, but I could not have a new one sent. The reason that I was given is: ` +
        `"${outcome.reason}". Nothing has changed about your order. I can get you a refund instead, ` +
        'which a colleague has to agree to: just say so, and I will ask. Or come back to this ' +
        'later; our conversation stays where it is, so that you will not have to explain it twice.',
    );
  }
  const { replacementId, orderId, workingDays } = outcome.value;
  return say(
    `It is done: a new one for order ${orderId} leaves our warehouse today and should be with you in ` +
      `${String(workingDays)} working days. Its number is ${replacementId}; you will get a message with ` +
      'a tracking link as soon as the carrier has it. You do not have to send the damaged one back, ' +
      'please dispose of it with care. I hope that this one arrives in one piece. Is there anything ' +
      'else that I can do for you today?',
  );
}
