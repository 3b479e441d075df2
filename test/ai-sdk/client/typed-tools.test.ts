import { expect, it } from '@jest/globals';
import { useChat as useChatOf7, type UIMessage as MessageOf7 } from '@ai-sdk/react';
import { tool, type UIDataTypes } from 'ai';
import { useChat as useChatOf6, type UIMessage as MessageOf6 } from 'ai-sdk-react-v6';
import { z } from 'zod';
import { defineAgent, defineTool, type InferAgentTools } from '../../../agents/index.js';
import { toStaticMessages } from '../../../ai-sdk/index.js';

/* Types of messages against the types of both majors; the hooks are compiled, not run. */

const weather = defineTool({
  name: 'weather',
  description: 'The weather in a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => Promise.resolve({ city, celsius: 21 }),
});
const locate = defineTool({
  name: 'locate',
  description: 'Where the person is.',
  inputSchema: z.object({}),
  outputSchema: z.object({ lat: z.number() }),
  execute: 'client',
});
const refund = tool({
  inputSchema: z.object({ amount: z.number() }),
  execute: ({ amount }) => `${String(amount)} paid back`,
});
const common = { systemPrompt: '', llmConfig: { model: 'scripted' } };
const listed = defineAgent({ name: 'listed', ...common, tools: [weather, locate] });
const named = defineAgent({ name: 'named', ...common, tools: { weather, refund } });

type Listed = InferAgentTools<typeof listed>;
type Named = InferAgentTools<typeof named>;

type Same<A, B> = [A, B] extends [B, A] ? true : false;
const areSame: [
  Same<keyof Listed, 'weather' | 'locate'>,
  Same<Listed['weather'], { input: { city: string }; output: { city: string; celsius: number } }>,
  Same<Listed['locate']['output'], { lat: number }>,
  Same<keyof Named, 'weather' | 'refund'>,
  Same<Named['refund']['input'], { amount: number }>,
  Same<Named['refund']['output'], string>,
] = [true, true, true, true, true, true];

function readOf7({ parts }: MessageOf7<never, UIDataTypes, Listed>): number[] {
  return parts.flatMap((part) => {
    if (part.type === 'tool-weather' && part.state === 'output-available') {
      return [part.output.celsius];
    }
    // @ts-expect-error -- the agent has no such tool
    return part.type === 'tool-wether' ? [0] : [];
  });
}

export const useTyped = (): unknown => {
  const { messages, addToolOutput } = useChatOf7<MessageOf7<never, UIDataTypes, Listed>>();
  const older = useChatOf6<MessageOf6<never, UIDataTypes, Named>>();
  void addToolOutput({ tool: 'locate', toolCallId: 'c1', output: { lat: 1 } });
  // @ts-expect-error -- a latitude is a number
  void addToolOutput({ tool: 'locate', toolCallId: 'c1', output: { lat: 'north' } });
  const paid = older.messages.flatMap(({ parts }) =>
    parts.map((part) => (part.type === 'tool-refund' ? part.input?.amount : 0)),
  );
  return [messages.map(readOf7), paid];
};

it('messages with static parts are what the types say', () => {
  const message = {
    ...{ id: 'msg-1', role: 'assistant' as const },
    parts: [
      { type: 'step-start' as const },
      {
        ...{ type: 'dynamic-tool' as const, toolName: 'weather', toolCallId: 'c1' },
        ...{ state: 'output-available' as const, input: { city: 'Rome' } },
        output: { city: 'Rome', celsius: 21 },
      },
    ],
  };
  const [shown] = toStaticMessages([message]);
  expect(shown?.parts).toEqual([
    { type: 'step-start' },
    {
      ...{ type: 'tool-weather', toolCallId: 'c1', state: 'output-available' },
      ...{ input: { city: 'Rome' }, output: { city: 'Rome', celsius: 21 } },
    },
  ]);
  expect(readOf7(shown as MessageOf7<never, UIDataTypes, Listed>)).toEqual([21]);
  expect(areSame).toHaveLength(6);
  expect([listed, named].map(({ tools }) => tools.length)).toEqual([2, 2]);
});
