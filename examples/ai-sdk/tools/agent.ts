import { stepCountIs, tool } from 'ai';
import { ToolLoopAgent } from 'helix-temporal/runtime-js';
import { z } from 'zod';

const CELSIUS: Readonly<Record<string, number>> = { Rome: 21, Oslo: 4 };

export const agent = new ToolLoopAgent({
  id: 'weather',
  model: 'openai/gpt-5',
  instructions: 'You tell the weather, in degrees Fahrenheit.',
  tools: {
    weather: tool({
      description: 'The temperature in a city, in degrees Celsius.',
      inputSchema: z.object({ city: z.string().describe('The name of the city') }),
      execute: async ({ city }) => ({ city, celsius: CELSIUS[city] ?? 15 }),
    }),
    toFahrenheit: tool({
      description: 'Degrees Celsius as degrees Fahrenheit.',
      inputSchema: z.object({ celsius: z.number() }),
      execute: async ({ celsius }) => ({ fahrenheit: Math.round(celsius * 1.8 + 32) }),
    }),
  },
  stopWhen: stepCountIs(5),
});

/** Returns the answer, and the calls and results of each step. */
export async function ask(prompt: string): Promise<{ text: string; steps: unknown[] }> {
  const { text, steps } = await agent.generate({ prompt });
  return {
    text,
    steps: steps.map(({ toolCalls, toolResults, finishReason, usage }) => ({
      called: toolCalls.map(({ toolName, input }) => ({ toolName, input })),
      got: toolResults.map(({ output }) => output),
      finishReason,
      tokens: usage.totalTokens,
    })),
  };
}
