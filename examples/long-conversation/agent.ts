import type { LanguageModel } from 'ai';
import { defineAgent, type AgentDefinition } from '../../agents/index.js';
import { compaction } from '../../extensions/compaction/index.js';

/** Beyond this many tokens the oldest messages are summarised. */
const MAX_TOKENS = 100_000;

/**
 * An agent whose conversations may grow without limit: the model gets a summary in place of the oldest
 * messages, written by a model that may be a cheaper one. Transcript and page keep every message.
 */
export function createLongConversationAgent(
  model: LanguageModel,
  summaryModel = model,
  maxTokens = MAX_TOKENS,
): AgentDefinition {
  return defineAgent({
    name: 'long-conversation',
    systemPrompt: 'You help with long work.',
    llmConfig: { model },
    prepareStep: compaction({ maxTokens, model: summaryModel }),
  });
}
