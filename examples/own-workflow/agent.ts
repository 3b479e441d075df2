import { z } from 'zod';
import {
  createRuleModel,
  defineAgent,
  defineTool,
  type AgentDefinition,
  type LlmSettings,
} from '../../agents/index.js';

/** Creates an agent that publishes a report after approval. Without a model it follows a rule. */
export function createReporter(
  publish: (text: string) => void,
  model: LlmSettings['model'] = createRuleModel(({ userText, results }) =>
    results.length === 0
      ? { calls: [{ tool: 'publish', args: { text: userText } }] }
      : { say: 'The report is out.' },
  ),
): AgentDefinition {
  return defineAgent({
    name: 'reporter',
    systemPrompt: 'Write a short report of the figures you are given, and publish it.',
    llmConfig: { model },
    tools: [
      defineTool({
        name: 'publish',
        description: 'Publishes the report.',
        inputSchema: z.object({ text: z.string() }),
        requireApproval: true,
        execute: ({ text }) => {
          publish(text);
          return { published: true };
        },
      }),
    ],
  });
}
