import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import * as theirs from 'ai';
import { dynamicTool, hasToolCall, isStepCount, Output, tool, type ModelMessage } from 'ai';
import { z } from 'zod';
import * as ours from '../../../extensions/one-process/index.js';
import { fakeModel, parts, sayInTurn } from '../../support/fake-model.js';

// The AI SDK's guide programs on agents must see the same with the SDK's class and with this
// runtime's.

type Part = LanguageModelV4StreamPart;
type Sdk = typeof theirs;

const { text, finish, asks } = parts;
const says = (words: string, reason?: 'stop' | 'length'): Part[] => [
  ...text(words),
  ...finish(reason),
];
const calls = (...made: [id: string, toolName: string, input: unknown][]): Part[] =>
  asks(made.flatMap(([id, toolName, input]) => parts.call(id, toolName, input)));

const search = tool({
  inputSchema: z.object({ q: z.string() }),
  execute: ({ q }) => ({ found: q }),
});
const done = tool({
  description: 'Signals that the work is finished.',
  inputSchema: z.object({ answer: z.string() }),
});
const pay = tool({
  inputSchema: z.object({ euros: z.number() }),
  // oxlint-disable-next-line typescript/no-deprecated -- Guides of AI SDK 6 write it so.
  needsApproval: ({ euros }) => euros > 10,
  execute: ({ euros }) => ({ paid: euros }),
});
const tools = { search, done };

/** Reads a call's result without times, run ids and the split of texts. */
async function factsOf(result: Awaited<ReturnType<theirs.ToolLoopAgent['stream']>>) {
  const seen: string[] = [];
  for await (const part of result.stream) {
    if (part.type === 'text-delta' && seen.at(-1) === part.type) continue;
    // This runtime counts a step as finished after its tools.
    if (!['start', 'finish', 'start-step', 'finish-step'].includes(part.type)) seen.push(part.type);
  }
  const named = (made: readonly { toolName: string }[]) => made.map(({ toolName }) => toolName);
  const output: unknown = await result.output.then(
    (value: unknown) => value ?? 'no output',
    () => 'no output',
  );
  return {
    seen,
    text: await result.text,
    finishReason: await result.finishReason,
    steps: (await result.steps).map((step) => [
      step.stepNumber,
      step.text,
      step.finishReason,
      named(step.toolCalls),
      step.toolResults.map(({ output }) => output),
    ]),
    static: (await result.staticToolCalls).map(({ toolName, input }) => [
      toolName,
      input as unknown,
    ]),
    dynamic: named(await result.dynamicToolCalls),
    results: (await result.toolResults).map(({ output }) => output),
    roles: (await result.responseMessages).map(({ role }) => role),
    output,
  };
}

/** An agent's settings, its model's replies and the program's question. */
interface Program {
  settings?: object;
  replies: Part[][];
  /** Replaces the single question by other steps. */
  play?: (agent: theirs.ToolLoopAgent, sdk: Sdk) => Promise<unknown>;
}

const structured = (output: unknown, ...replies: Part[][]): Program => ({
  settings: { output },
  replies,
});
const Answer = z.object({ answer: z.number(), unit: z.string().default('m') });

const PROGRAMS: Record<string, Program> = {
  'a text': { replies: [says('Hello.')] },
  'Output.object': structured(Output.object({ schema: Answer }), says('{"answer":42}')),
  'Output.array': structured(
    Output.array({ element: z.object({ n: z.number() }) }),
    says('{"elements":[{"n":1},{"n":2}]}'),
  ),
  'Output.choice': structured(Output.choice({ options: ['a', 'b'] }), says('{"result":"b"}')),
  'Output.json': structured(Output.json(), says('[1,{"a":null}]')),
  'Output.text': structured(Output.text(), says('plain')),
  'Output.object after tools': {
    settings: { tools: { search }, output: Output.object({ schema: Answer }) },
    replies: [calls(['c1', 'search', { q: 'x' }]), says('{"answer":1,"unit":"km"}')],
  },
  'Output.object in blank space': structured(
    Output.object({ schema: Answer }),
    says('\n {"answer":42}\n'),
  ),
  'a text that was cut by its length': { replies: [says('Hel', 'length')] },
  'the end by a text': {
    settings: { tools },
    replies: [calls(['c1', 'search', { q: 'x' }]), says('Found.')],
  },
  'a number of steps': {
    settings: { tools: { search }, stopWhen: isStepCount(2) },
    replies: [
      calls(['c1', 'search', { q: 'x' }]),
      calls(['c2', 'search', { q: 'y' }]),
      says('Never.'),
    ],
  },
  'a condition of its own, beside others': {
    settings: {
      tools: { search },
      stopWhen: [
        isStepCount(20),
        ({ steps }: { steps: theirs.StepResult<theirs.ToolSet>[] }) =>
          steps.some((step) => step.text.includes('ANSWER:')),
      ],
    },
    replies: [
      calls(['c1', 'search', { q: 'x' }]),
      [...text('ANSWER: 42'), ...calls(['c2', 'search', { q: 'y' }])],
      says('Never.'),
    ],
  },
  'a tool that executes and ends': {
    settings: { tools: { search }, stopWhen: hasToolCall('search') },
    replies: [calls(['c1', 'search', { q: 'x' }]), says('Never.')],
  },
  'forced tool calling': {
    settings: { tools, toolChoice: 'required' },
    replies: [
      calls(['c1', 'search', { q: 'x' }]),
      calls(['c2', 'done', { answer: '42' }]),
      says('Never.'),
    ],
  },
  'forced tool calling, with a number of steps': {
    settings: { tools, toolChoice: 'required', stopWhen: isStepCount(10) },
    replies: [calls(['c1', 'done', { answer: '42' }]), says('Never.')],
  },
  'forced tool calling of one tool': {
    settings: { tools, toolChoice: { type: 'tool', toolName: 'done' } },
    replies: [calls(['c1', 'done', { answer: '42' }]), says('Never.')],
  },
  'a final tool that stopWhen names': {
    settings: { tools, stopWhen: [isStepCount(20), hasToolCall('done')] },
    replies: [
      calls(['c1', 'search', { q: 'x' }]),
      calls(['c2', 'done', { answer: '42' }]),
      says('Never.'),
    ],
  },
  'a final tool beside one that executes': {
    settings: { tools, stopWhen: hasToolCall('done') },
    replies: [
      calls(['c1', 'done', { answer: '42' }], ['c2', 'search', { q: 'x' }]),
      says('Never.'),
    ],
  },
  'a final tool with an input that does not fit, then with one that does': {
    settings: { tools, toolChoice: 'required' },
    replies: [calls(['c1', 'done', {}]), calls(['c2', 'done', { answer: '42' }])],
  },
  'a final tool after a conversation': {
    settings: { tools, toolChoice: 'required' },
    replies: [calls(['c1', 'done', { answer: '1' }]), calls(['c2', 'done', { answer: '2' }])],
    play: async (agent) => {
      const first = await factsOf(await agent.stream({ prompt: 'first' }));
      return [first, await factsOf(await agent.stream({ prompt: 'second' }))];
    },
  },
  'tools that are chosen step by step': {
    settings: {
      tools,
      prepareStep: ({ stepNumber }: { stepNumber: number }) =>
        stepNumber === 0
          ? { activeTools: ['search'], toolChoice: 'required' }
          : { activeTools: [], instructions: 'Sum up.' },
    },
    replies: [calls(['c1', 'search', { q: 'x' }]), says('Found.')],
  },
  'another model for later steps': {
    settings: {
      tools,
      prepareStep: ({ stepNumber }: { stepNumber: number }) =>
        stepNumber === 0 ? {} : { model: fakeModel(sayInTurn(says('By the other one.'))) },
    },
    replies: [calls(['c1', 'search', { q: 'x' }])],
  },
  'messages that are left out, to save context': {
    settings: {
      tools,
      prepareStep: ({ messages }: { messages: ModelMessage[] }) => ({
        messages: messages.slice(-2),
      }),
    },
    replies: [
      calls(['c1', 'search', { q: 'x' }]),
      calls(['c2', 'search', { q: 'y' }]),
      says('Found.'),
    ],
  },
  'a tool that needs no approval this time': {
    settings: { tools: { pay } },
    replies: [calls(['c1', 'pay', { euros: 5 }]), says('Paid.')],
  },
  'an approval that is asked for': {
    settings: { tools: { pay } },
    replies: [calls(['c1', 'pay', { euros: 50 }]), says('Never.')],
  },
  'tools of which only the name is known': {
    settings: {
      tools: {
        any: dynamicTool({
          description: 'Any.',
          inputSchema: z.unknown(),
          execute: (input) => ({ input }),
        }),
      },
    },
    replies: [calls(['c1', 'any', { a: 1 }]), says('Done.')],
  },
  'a sub-agent as a tool': {
    replies: [calls(['c1', 'research', { task: 'tides' }]), says('Summed up.')],
    play: async (_agent, { ToolLoopAgent }) => {
      const helper = new ToolLoopAgent({ model: fakeModel(sayInTurn(says('The moon.'))) });
      const research = tool({
        inputSchema: z.object({ task: z.string() }),
        execute: async ({ task }) => {
          const result = await helper.stream({ prompt: task });
          await result.consumeStream();
          return await result.text;
        },
        toModelOutput: ({ output }) => ({ type: 'text', value: `Summary: ${output}` }),
      });
      const model = fakeModel(
        sayInTurn(calls(['c1', 'research', { task: 'tides' }]), says('Summed up.')),
      );
      const agent = new ToolLoopAgent({ model, tools: { research } });
      const facts = await factsOf((await agent.stream({ prompt: 'go' })) as never);
      return [
        facts,
        JSON.stringify(model.doStreamCalls[1]?.prompt.at(-1)).includes('Summary: The moon.'),
      ];
    },
  },
  'memory that a tool keeps': {
    replies: [],
    play: async (_agent, { ToolLoopAgent }) => {
      const notes: string[] = [];
      const remember = tool({
        inputSchema: z.object({ note: z.string() }),
        execute: ({ note }) => {
          notes.push(note);
          return 'kept';
        },
      });
      const replies = [calls(['c1', 'remember', { note: 'likes tea' }]), says('Noted.')];
      const model = fakeModel(sayInTurn(...replies));
      const agent = new ToolLoopAgent({
        model,
        tools: { remember },
        prepareStep: () => ({ instructions: `Known: ${notes.join()}` }),
      });
      const facts = await factsOf((await agent.stream({ prompt: 'go' })) as never);
      return [facts, notes, model.doStreamCalls.map(({ prompt }) => prompt[0]?.content)];
    },
  },
  'a call that is repaired': {
    settings: {
      tools,
      repairToolCall: ({ toolCall }: { toolCall: object }) =>
        Promise.resolve({ ...toolCall, input: '{"q":"mended"}' }),
    },
    replies: [calls(['c1', 'search', { wrong: 1 }]), says('Found.')],
  },
  'a tool that fails': {
    settings: {
      tools: {
        fail: tool({
          inputSchema: z.object({}),
          execute: (): string => {
            throw new Error('It is dark.');
          },
        }),
      },
    },
    replies: [calls(['c1', 'fail', {}]), says('Sorry.')],
  },
  'routing by a first call, with its choice': {
    replies: [],
    play: async (_agent, { ToolLoopAgent }) => {
      const sorter = new ToolLoopAgent({
        model: fakeModel(sayInTurn(says('{"result":"refund"}'))),
        output: Output.choice({ options: ['refund', 'technical'] }),
      });
      const sorted = await sorter.stream({ prompt: 'I want my money back.' });
      await sorted.consumeStream();
      const kind: unknown = await sorted.output;
      const expert = new ToolLoopAgent({
        model: fakeModel((_n, { prompt }) => says(JSON.stringify(prompt[0]?.content))),
        instructions: `You are an expert for: ${String(kind)}`,
      });
      return factsOf(await expert.stream({ prompt: 'Help.' }));
    },
  },
};

async function playWith(sdk: Sdk, { settings, replies, play }: Program): Promise<unknown> {
  const model = fakeModel(sayInTurn(...replies));
  const agent = new sdk.ToolLoopAgent({ model, ...settings });
  if (play !== undefined) return play(agent, sdk);
  return factsOf(await agent.stream({ prompt: 'go' }));
}

it.each(Object.entries(PROGRAMS))('%s is as with the AI SDK', async (_name, program) => {
  expect(await playWith(ours as unknown as Sdk, program)).toEqual(await playWith(theirs, program));
});

it('nothing waits behind a call that ended its run', async () => {
  const agent = new ours.ToolLoopAgent({
    model: fakeModel(sayInTurn(calls(['c1', 'done', { answer: '42' }]))),
    tools,
    toolChoice: 'required',
  });
  const result = await agent.stream({ prompt: 'go' });
  expect(await result.pending).toEqual([]);
  expect(await result.staticToolCalls).toMatchObject([
    { toolName: 'done', input: { answer: '42' } },
  ]);
});

it('a tool of a page waits for its answer, also where the steps are counted', async () => {
  for (const stopWhen of [isStepCount(1), isStepCount(20), hasToolCall('search')]) {
    const replies = [calls(['c1', 'done', { answer: '42' }], ['c2', 'search', { q: 'x' }])];
    const agent = new ours.ToolLoopAgent({
      model: fakeModel(sayInTurn(...replies)),
      tools,
      stopWhen,
    });
    const { pending } = await agent.stream({ prompt: 'go' });
    expect(await pending).toMatchObject([{ toolCallId: 'c1', kind: 'client' }]);
  }
});
