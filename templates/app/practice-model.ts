// A stand-in for a model until you have a key: a few rules to try the app.
import { createRuleModel } from 'helix-temporal';

export function createPracticeModel() {
  return createRuleModel(({ userText, results }) => {
    const order = /\d{4}/.exec(userText)?.[0];
    const last = results.at(-1);
    if (last?.tool === 'refund') {
      if (last.outcome === 'failed') return { say: 'I am sorry, the refund could not be made.' };
      return last.outcome === 'done'
        ? { say: 'The refund was approved, and the money is on its way.' }
        : { say: 'I am sorry, a colleague has decided against the refund.' };
    }
    if (last && order && /refund|money/i.test(userText)) {
      const say = 'I found the order. A colleague has to agree to the refund.';
      return { say, calls: [{ tool: 'refund', args: { order, amount: 48.5 } }] };
    }
    if (last) {
      return {
        say: `Order ${order ?? ''}: a **teapot** for $48.50, which was delivered yesterday.`,
      };
    }
    if (order) return { say: 'One moment.', calls: [{ tool: 'lookupOrder', args: { order } }] };
    return { say: 'Hello! Try "Where is order 1042?" or "I want a refund for order 1042".' };
  });
}
