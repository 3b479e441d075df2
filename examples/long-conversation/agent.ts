import type { LanguageModel } from 'ai';
import { defineAgent, type AgentDefinition } from '../../agents/index.js';
import { compaction } from '../../extensions/compaction/index.js';

/** Beyond this many tokens the oldest messages are summarised. */
const MAX_TOKENS = 100_000;

/**
 * Creates an agent for conversations of any length: a model, perhaps a cheaper one, summarises the oldest
 * messages for the agent's model. Transcript and page keep every message.
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
