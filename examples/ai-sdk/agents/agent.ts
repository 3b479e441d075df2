import { hasToolCall, stepCountIs, tool } from 'ai';
import { ToolLoopAgent } from 'helix-temporal/runtime-js';
import { z } from 'zod';

const LIBRARY: Readonly<Record<string, string>> = {
  tides: 'The moon draws the sea towards itself.',
  seasons: 'The axis of the earth is tilted.',
};

export const agent = new ToolLoopAgent({
  id: 'researcher',
  model: 'openai/gpt-5',
  instructions: 'You search before you answer, and conclude with a grade of confidence.',
  tools: {
    search: tool({
      description: 'Looks something up in the library.',
      inputSchema: z.object({ topic: z.string() }),
      execute: async ({ topic }) => LIBRARY[topic] ?? 'Nothing was found.',
    }),
    compare: tool({
      description: 'Compares two findings.',
      inputSchema: z.object({ first: z.string(), second: z.string() }),
      execute: async ({ first, second }) => ({ same: first === second }),
    }),
    conclude: tool({
      description: 'Ends the research.',
      inputSchema: z.object({ confidence: z.number() }),
      execute: async ({ confidence }) => ({ confidence }),
    }),
  },
  // The first step can only search; later ones can do everything else.
  prepareStep: ({ stepNumber }) =>
    stepNumber === 0
      ? { activeTools: ['search'], toolChoice: 'required' }
      : { activeTools: ['compare', 'conclude'] },
  stopWhen: [stepCountIs(10), hasToolCall('conclude')],
});

/** Prints the text as it streams, then returns it with the tools called per step. */
export async function research(prompt: string): Promise<{ text: string; called: string[][] }> {
  const result = await agent.stream({ prompt });
  let text = '';
  for await (const piece of result.textStream) text += piece;
  const steps = await result.steps;
  return {
    text,
    called: steps.map(({ toolCalls }) => toolCalls.map(({ toolName }) => toolName)),
  };
}
