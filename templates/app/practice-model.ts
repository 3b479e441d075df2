// Stands in for a model until you have a key: rules that are enough to try the app.
import { createReply, createReplyModel, cutWords, toTurn, type Reply } from 'helix-temporal';

const EVERY_MS = 40;

export function createPracticeModel() {
  return createReplyModel({
    provider: 'practice',
    modelId: 'rules',
    toReply: ({ prompt }) => {
      const { userText, since } = toTurn(prompt);
      const order = /\d{4}/.exec(userText)?.[0];
      const last = since.at(-1);
      if (last?.role === 'tool') {
        const result = last.content.findLast((part) => part.type === 'tool-result');
        if (result?.toolName === 'refund') return say(toDecision(result.output.type));
        if (order && /refund|money/i.test(userText)) {
          const text = 'I found the order. A colleague has to agree to the refund. ';
          return call(text, 'refund', { order, amount: 48.5 });
        }
        return say('It is a teapot for $48.50, and it was delivered yesterday.');
      }
      if (order) return call('One moment. ', 'lookupOrder', { order });
      return say('Hello! Try "Where is order 1042?" or "I want a refund for order 1042".');
    },
  });
}

function toDecision(outcome: string): string {
  if (outcome === 'json') return 'The refund was approved, and the money is on its way.';
  return 'I am sorry, a colleague has decided against the refund.';
}

function say(text: string): Reply {
  return createReply({ pieces: cutWords(text), everyMs: EVERY_MS });
}

function call(text: string, tool: string, args: object): Reply {
  const input = JSON.stringify(args);
  const id = `${tool}-${crypto.randomUUID()}`;
  return createReply({
    pieces: cutWords(text),
    everyMs: EVERY_MS,
    calls: [{ tool, id, input, inputPieces: [input] }],
  });
}
