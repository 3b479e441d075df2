import { useChat as useChatOf7, type UIMessage as MessageOf7 } from '@ai-sdk/react';
import { tool, ToolLoopAgent, type UIDataTypes } from 'ai';
import { useChat as useChatOf6, type UIMessage as MessageOf6 } from 'ai-sdk-react-v6';
import { tool as toolOf6, ToolLoopAgent as ToolLoopAgentOf6 } from 'ai-v6';
import { z } from 'zod';
import {
  createSubAgentTool,
  defineAgent,
  defineTool,
  fromAgent,
  type AgentDefinition,
  type InferAgentTools,
} from '../../../agents/index.js';
import { activityTool } from '../../../extensions/temporal-tools/index.js';
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
const refunding = defineAgent({ name: 'refunding', ...common, tools: { refund } });
const named = defineAgent({ name: 'named', ...common, tools: { weather, refund } });

type Listed = InferAgentTools<typeof listed>;
type Named = InferAgentTools<typeof named>;

const inputSchema = z.object({ question: z.string() });
const settings = { model: 'scripted', tools: { refund } };
const looped = fromAgent(new ToolLoopAgent(settings), { name: 'looped' });
const looped6 = fromAgent(
  new ToolLoopAgentOf6({
    model: 'scripted',
    tools: {
      refund: toolOf6({ inputSchema: z.object({ amount: z.number() }), execute: () => 'done' }),
    },
  }),
  { name: 'looped6', llmConfig: common.llmConfig },
);
const replaced = fromAgent(new ToolLoopAgent(settings), { name: 'replaced', tools: [weather] });
const plain = fromAgent(settings, { name: 'plain' });
const ship = activityTool({
  name: 'ship',
  description: 'Ships.',
  activity: 'Ship',
  taskQueue: 'ships',
  inputSchema: z.object({ order: z.number() }),
  outputSchema: z.object({ shipped: z.boolean() }),
});
/** A tool of the same name that another agent of the tree has. */
const weatherAt = defineTool({
  name: 'weather',
  description: 'The weather at a place.',
  execute: 'client',
  inputSchema: z.object({ lat: z.number() }),
});
const scout = defineAgent({ name: 'scout', ...common, tools: [weatherAt, ship] });
const researcher = defineAgent({
  name: 'researcher',
  ...common,
  tools: { ask: createSubAgentTool({ agent: scout, name: 'ask', inputSchema, description: '.' }) },
  outputSchema: z.object({ sources: z.number() }),
});
const untyped: AgentDefinition = named;
const lead = defineAgent({
  name: 'lead',
  ...common,
  tools: [
    weather,
    createSubAgentTool({ agent: researcher, inputSchema, description: 'Researches.' }),
    createSubAgentTool({ agent: untyped, inputSchema, description: 'Untyped.' }),
  ],
});
type Lead = InferAgentTools<typeof lead>;
type NamesOf<Agent> = keyof InferAgentTools<Agent>;

/** `any` is the same as nothing else. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type AllTrue<T extends true[]> = T;
export type Checked = AllTrue<
  [
    Same<keyof Listed, 'weather' | 'locate'>,
    Same<Listed['weather'], { input: { city: string }; output: { city: string; celsius: number } }>,
    Same<Listed['locate']['output'], { lat: number }>,
    Same<keyof Named, 'weather' | 'refund'>,
    Same<Named['refund']['input'], { amount: number }>,
    Same<Named['refund']['output'], string>,
    Same<InferAgentTools<typeof looped>, InferAgentTools<typeof refunding>>,
    Same<InferAgentTools<typeof plain>, InferAgentTools<typeof refunding>>,
    Same<keyof InferAgentTools<typeof looped6>, 'refund'>,
    Same<InferAgentTools<typeof looped6>['refund'], { input: { amount: number }; output: string }>,
    Same<keyof InferAgentTools<typeof replaced>, 'weather'>,
    Same<keyof Lead, 'weather' | 'subagent__researcher' | 'ask' | 'ship'>,
    Same<
      Lead['subagent__researcher'],
      { input: { question: string }; output: { sources: number } }
    >,
    Same<Lead['ask']['output'], unknown>,
    Same<Lead['ship'], { input: { order: number }; output: { shipped: boolean } }>,
    Same<Lead['weather']['input'], { city: string } | { lat: number }>,
    Same<NamesOf<AgentDefinition>, never>,
  ]
>;

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
    id: 'msg-1',
    role: 'assistant' as const,
    parts: [
      { type: 'step-start' as const },
      {
        type: 'dynamic-tool' as const,
        toolName: 'weather',
        toolCallId: 'c1',
        state: 'output-available' as const,
        input: { city: 'Rome' },
        output: { city: 'Rome', celsius: 21 },
      },
    ],
  };
  const [shown] = toStaticMessages([message]);
  expect(shown?.parts).toEqual([
    { type: 'step-start' },
    {
      type: 'tool-weather',
      toolCallId: 'c1',
      state: 'output-available',
      input: { city: 'Rome' },
      output: { city: 'Rome', celsius: 21 },
    },
  ]);
  expect(readOf7(shown as MessageOf7<never, UIDataTypes, Listed>)).toEqual([21]);
  expect([listed, named].map(({ tools }) => tools.length)).toEqual([2, 2]);
  const others = [looped, looped6, replaced, plain, lead, refunding];
  expect(others.map(({ tools }) => tools[0]?.name)).toEqual([
    'refund',
    'refund',
    'weather',
    'refund',
    'weather',
    'refund',
  ]);
});
