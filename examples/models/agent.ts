import { openai } from '@ai-sdk/openai';
import type { LanguageModel } from 'ai';
import { defineAgent, type AgentDefinition } from '../../agents/index.js';

/**
 * Answers with the provider's web search. If the first model fails, or does not begin within two seconds, the
 * second one answers. Counts the usage of each run.
 */
export function createSearcher(
  first: LanguageModel,
  second: LanguageModel,
  count: (runId: string, tokens: number) => void,
): AgentDefinition {
  return defineAgent({
    name: 'searcher',
    systemPrompt: 'Answer with what the web says, and name your sources.',
    // The provider executes this tool within its reply.
    tools: { web_search: openai.tools.webSearch({ searchContextSize: 'low' }) },
    onFinish: ({ runId, totalUsage }) => count(runId, totalUsage.totalTokens ?? 0),
    llmConfig: { model: [{ model: first, firstPartMs: 2_000, maxTries: 1 }, second] },
  });
}
