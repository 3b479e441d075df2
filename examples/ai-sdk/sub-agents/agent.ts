import { readUIMessageStream, tool, type UIMessage } from 'ai';
import { ToolLoopAgent } from 'helix-temporal/runtime-js';
import { z } from 'zod';

const LIBRARY: Readonly<Record<string, string>> = {
  tides: 'The moon draws the sea towards itself.',
};

const researcher = new ToolLoopAgent({
  id: 'researcher',
  model: 'openai/gpt-5-mini',
  instructions: 'You search, and end with a summary of what you found.',
  tools: {
    search: tool({
      description: 'Looks something up in the library.',
      inputSchema: z.object({ topic: z.string() }),
      execute: async ({ topic }) => LIBRARY[topic] ?? 'Nothing was found.',
    }),
  },
});

export const agent = new ToolLoopAgent({
  id: 'editor',
  model: 'openai/gpt-5',
  instructions: 'You write what your researcher has found.',
  tools: {
    research: tool({
      description: 'Has a question researched.',
      inputSchema: z.object({ question: z.string() }),
      // Each value replaces the previous one, so people see the work grow.
      execute: async function* ({ question }, { abortSignal }): AsyncGenerator<UIMessage> {
        const result = await researcher.stream({ prompt: question, abortSignal });
        yield* readUIMessageStream({ stream: result.toUIMessageStream() });
      },
      // The model gets only the summary.
      toModelOutput: ({ output }) => {
        const last = output.parts.findLast((part) => part.type === 'text');
        return { type: 'text', value: last?.text ?? 'There is no summary.' };
      },
    }),
  },
});

/** Returns the answer and the parts of the researcher's work. */
export async function write(prompt: string): Promise<{ text: string; work: string[] }> {
  const { text, steps } = await agent.generate({ prompt });
  const [research] = steps.flatMap(({ toolResults }) => toolResults);
  const parts = research?.dynamic === true ? [] : research?.output.parts;
  return { text, work: parts?.map(({ type }) => type) ?? [] };
}
