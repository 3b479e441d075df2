/* oxlint-disable typescript/no-deprecated -- Tools that exist have these names. */
import { tool, ToolLoopAgent, type ModelMessage } from 'ai';
import { z } from 'zod';
import { fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import { serve } from './serve-agent.js';

const { call, asks } = parts;

interface Given {
  messages: ModelMessage[];
}

describe('rules of agents of the AI SDK', () => {
  it.each(['a status by tool', 'one function', 'the tool'])(
    'an approval that looks at the messages gets those of ToolLoopAgent: %s',
    async (which) => {
      const make = (model: ReturnType<typeof fakeModel>, heard: unknown[]) => {
        const asks = (messages: ModelMessage[]): void => {
          heard.push(messages.map(({ role, content }) => [role, content.length]));
        };
        const echo = tool({
          inputSchema: z.object({ value: z.string() }),
          execute: ({ value }) => ({ value }),
          ...(which === 'the tool' && {
            needsApproval: (_input: unknown, { messages }: { messages: ModelMessage[] }) => {
              asks(messages);
              return false;
            },
          }),
        });

        const toolApproval = (options: Given) => {
          asks(options.messages);
          return 'not-applicable' as const;
        };
        return new ToolLoopAgent({
          model,
          instructions: 'Be brief.',
          tools: { echo },
          ...(which === 'one function' && { toolApproval }),
          ...(which === 'a status by tool' && {
            toolApproval: { echo: (_input: unknown, options: Given) => toolApproval(options) },
          }),
        });
      };
      const replies = [
        asks(call('c1', 'echo', { value: 'a' })),
        asks(call('c2', 'echo', { value: 'b' })),
      ];
      const [theirs, ours]: [unknown[], unknown[]] = [[], []];
      const result = await make(fakeModel(sayInTurn(...replies)), theirs).stream({
        messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      });
      await result.consumeStream();
      const harness = await serve(make(fakeModel(sayInTurn(...replies)), ours));
      await harness.play(await harness.begin());
      expect(ours).toEqual([
        [['user', 1]],
        [
          ['user', 1],
          ['assistant', 1],
          ['tool', 1],
        ],
      ]);
      expect(ours).toEqual(theirs);
    },
  );
});
