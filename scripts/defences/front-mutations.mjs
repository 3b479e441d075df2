// Defences of the routes that speak other protocols.

const SUITE = 'test/api/fronts/posted-answers.test.ts';

export const fronts = [
  {
    defence: 'Other protocols: an approval takes a decision, and no result',
    file: 'api/fronts/posted-answers.ts',
    edits: [["if (calls.get(toolCallId)?.kind === 'approval') throw notADecision();", '']],
    test: 'answers of another protocol an approval is not given by yes',
  },
  {
    defence: 'Completions: the same key of another caller is another conversation',
    file: 'api/openai/conversation.ts',
    edits: [['[caller.tenantId, caller.userId, model, key]', '[model, key]']],
    test: 'the conversation of a completion a key names the same conversation and messages again, for the same caller only',
  },
].map((mutation) => ({ suite: SUITE, ...mutation }));
