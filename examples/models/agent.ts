import { openai } from '@ai-sdk/openai';
import type { LanguageModel } from 'ai';
import { defineAgent, type AgentDefinition } from '../../agents/index.js';

/**
 * Answers with what its provider finds in the web. When the first model fails, or takes more than two
 * seconds to begin, the second one answers. What each run used is counted.
 */
export function createSearcher(
  first: LanguageModel,
  second: LanguageModel,
  count: (runId: string, tokens: number) => void,
): AgentDefinition {
  return defineAgent({
    name: 'searcher',
    systemPrompt: 'Answer with what the web says, and name your sources.',
    // The provider executes it, within its reply.
    tools: { web_search: openai.tools.webSearch({ searchContextSize: 'low' }) },
    onFinish: ({ runId, totalUsage }) => {
      count(runId, totalUsage.totalTokens ?? 0);
    },
    llmConfig: { model: [{ model: first, firstPartMs: 2_000, maxTries: 1 }, second] },
  });
}
