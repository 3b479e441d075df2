import { pruneMessages, type LanguageModel } from 'ai';
import { defineAgent, type AgentDefinition, type PreparedStep } from '../../agents/index.js';

/** Messages that the model gets; older ones stay in the transcript. */
const NEWEST = 200;

/**
 * An agent whose conversations may grow without limit: the model gets the newest messages only, and of older steps
 * neither reasoning nor calls. What is stored does not change.
 */
export function createLongConversationAgent(model: LanguageModel): AgentDefinition {
  return defineAgent({
    name: 'long-conversation',
    systemPrompt: 'You help with long work. Early parts of the conversation may be missing.',
    llmConfig: { model },
    prepareStep: ({ messages }): PreparedStep | undefined => {
      if (messages.length <= NEWEST) return undefined;
      const recent = messages.slice(-NEWEST);
      // Providers want a conversation to begin with the user.
      const begin = recent.findIndex(({ role }) => role === 'user');
      return {
        messages: pruneMessages({
          messages: begin < 0 ? recent : recent.slice(begin),
          reasoning: 'before-last-message',
          toolCalls: 'before-last-20-messages',
        }),
      };
    },
  });
}
