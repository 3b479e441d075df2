/* oxlint-disable typescript/no-deprecated -- Agents that exist have these names. */
/* oxlint-disable typescript/no-deprecated -- Tools that exist have these names. */
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { dynamicTool, isStepCount, ToolLoopAgent, tool, type ModelMessage } from 'ai';
import { z } from 'zod';
import type { FinishEvent, StepFinishEvent } from '../../agents/index.js';
import { attemptOf, type ActivityHarness } from '../support/activity-harness.js';
import { fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import type { CommitInput, Steps } from '../../store/contract/steps.js';
import { changing, newNonce } from '../support/session-driver.js';
import { openTestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';
import { REPLIES, serve, SHAPES, tools } from './serve-agent.js';

const { call, finish, asks } = parts;

describe.each(SHAPES)('a stop condition%s', (_suffix, shape) => {
  it.each([
    ['throws', () => Promise.reject(new Error('secret'))],
    ['never comes back', () => new Promise<boolean>(() => undefined)],
  ])(
    'that %s fails the run with a typed error, without a word of its text',
    async (_how, stopWhen) => {
      const model = fakeModel(sayInTurn(...REPLIES));
      const harness = await serve(new ToolLoopAgent({ model, tools, stopWhen }), {
        llmConfig: { stallTimeoutMs: 500 },
        ...shape,
      });
      const run = await harness.begin();
      expect(await harness.play(run)).toMatchObject({
        kind: 'ended',
        status: 'failed',
        error: { code: 'stop_condition_failed', retryable: false },
      });
      expect(JSON.stringify(await harness.session.messages('error'))).not.toContain('secret');
      expect(model.doStreamCalls).toHaveLength(1);
    },
  );

  it('ends a run that owes a result with the result', async () => {
    const model = fakeModel(
      sayInTurn(
        asks(call('c1', 'echo', { value: 'a' })),
        asks(call('c2', '__finish__', { answer: 1 })),
      ),
    );
    const harness = await serve(new ToolLoopAgent({ model, tools, stopWhen: isStepCount(1) }), {
      outputSchema: z.object({ answer: z.number() }),
      ...shape,
    });
    expect(await harness.play(await harness.begin())).toMatchObject({ status: 'completed' });
    expect(model.doStreamCalls[1]?.toolChoice).toEqual({ type: 'tool', toolName: '__finish__' });
  });
});

describe('the repair of a call', () => {
  it('mends a wrong name and a wrong input before anything is stored', async () => {
    const asked: string[] = [];
    const model = fakeModel(
      sayInTurn(asks(call('c1', 'ecko', { value: 'a' }), call('c2', 'echo', { value: 1 }))),
    );
    const harness = await serve(
      new ToolLoopAgent({
        model,
        tools,
        repairToolCall: async ({ toolCall, error, inputSchema, messages }) => {
          asked.push(error.name, String(messages.length));
          const { properties } = await inputSchema({ toolName: 'echo' });
          const [field = ''] = Object.keys(properties ?? {});
          return { ...toolCall, toolName: 'echo', input: JSON.stringify({ [field]: 'mended' }) };
        },
      }),
    );
    await harness.play(await harness.begin());
    expect(asked.sort()).toEqual(['1', '1', 'AI_InvalidToolInputError', 'AI_NoSuchToolError']);
    expect(await harness.session.messages('tool_end')).toMatchObject([
      { toolCallId: 'c1', toolName: 'echo', result: { value: 'mended' } },
      { toolCallId: 'c2', result: { value: 'mended' } },
    ]);
    expect(model.doStreamCalls[1]?.prompt.at(-2)).toMatchObject({
      content: [
        { toolCallId: 'c1', toolName: 'echo', input: { value: 'mended' } },
        { toolCallId: 'c2', input: { value: 'mended' } },
      ],
    });
  });

  it.each([
    ['throws', () => Promise.reject(new Error('no'))],
    ['leaves it', () => Promise.resolve(null)],
    ['returns nonsense', () => Promise.resolve({ toolName: 3 } as never)],
  ])('that %s gives the model its error', async (_how, repairToolCall) => {
    const model = fakeModel(sayInTurn(asks(call('c1', 'ecko', {}))));
    const harness = await serve(new ToolLoopAgent({ model, tools, repairToolCall }));
    await harness.play(await harness.begin());
    expect(await harness.session.messages('tool_input_error')).toMatchObject([
      { toolName: 'ecko' },
    ]);
  });
});

describe('a repair that takes long', () => {
  const never = () => new Promise<null>(() => undefined);
  const begun = async (repairing: () => void) => {
    const model = fakeModel(sayInTurn(asks(call('c1', 'ecko', {}))));
    const repairToolCall = () => {
      repairing();
      return never();
    };
    return serve(new ToolLoopAgent({ model, tools, repairToolCall }));
  };

  it('is cut by a stop', async () => {
    let repairing = false;
    const harness = await begun(() => {
      repairing = true;
    });
    const step = harness.step(await harness.begin(), 1);
    await until('it repairs', () => Promise.resolve(repairing));
    await harness.session.stop();
    expect(await step).toMatchObject({ kind: 'ended', status: 'interrupted' });
    expect(await harness.session.messages('tool_input_error')).toMatchObject([
      { toolName: 'ecko', error: expect.stringContaining('stopped') },
    ]);
  });

  it('ends with its worker, and the next attempt asks the model again', async () => {
    const environment = attemptOf(1);
    const harness = await begun(() => {
      environment.cancel();
    });
    const run = await harness.begin();
    await expect(harness.step(run, 1, 1, environment)).rejects.toThrow('shuts down');
    expect(await harness.session.messages('tool_input_error')).toEqual([]);
  });
});

describe.each(SHAPES)('hooks%s', (_suffix, shape) => {
  it('are called once for each step and run, after the commit, and may fail', async () => {
    const heard: unknown[] = [];
    const model = fakeModel(sayInTurn(...REPLIES));
    const harness: ActivityHarness = await serve(
      new ToolLoopAgent({
        model,
        tools,
        stopWhen: isStepCount(3),
        onStepFinish: async (event) => {
          const { step, toolCalls, usage } = event as unknown as StepFinishEvent;
          const committed = await harness.session.messages('step_committed');
          heard.push([step, committed.length, toolCalls.length, usage.totalTokens]);
          throw new Error('ignored');
        },
        onFinish: (event) => {
          const { step, steps, totalUsage, ...rest } = event as unknown as FinishEvent;
          const results = steps.map(({ toolResults }) => toolResults.length);
          heard.push(['end', step, results, totalUsage.totalTokens]);
          const { usage, toolCalls, content, finalStep, responseMessages } = rest;
          heard.push([usage.totalTokens, toolCalls.length, content.length]);
          heard.push([finalStep.usage.totalTokens, finalStep.toolCalls.length]);
          heard.push(responseMessages.map(({ role }) => role).join(' '));
        },
      }),
      shape,
    );
    await harness.play(await harness.begin());
    expect(heard).toEqual([
      [1, 1, 1, 5],
      [2, 2, 2, 5],
      [3, 3, 1, 5],
      ['end', 3, [1, 2, 1], 15],
      // As AI SDK 7 has them: of all steps, and of the last one.
      [15, 4, 8],
      [5, 1],
      'assistant tool assistant tool assistant tool',
    ]);
  });
});

describe('hooks', () => {
  it('get what the provider reported of its replies, and how long they took', async () => {
    const heard: StepFinishEvent[] = [];
    const reported: LanguageModelV4StreamPart[] = [
      { type: 'stream-start', warnings: [{ type: 'unsupported', feature: 'seed' }] },
      { type: 'response-metadata', id: 'r1', modelId: 'exact', timestamp: new Date(5) },
      ...call('c1', 'echo', { value: 'a' }),
      ...call('c2', 'later', {}),
      ...finish('tool-calls').map((part) =>
        part.type === 'finish'
          ? {
              ...part,
              finishReason: { unified: 'tool-calls' as const, raw: 'tool_use' },
              providerMetadata: { fake: { cached: 1 } },
            }
          : part,
      ),
    ];
    const model = fakeModel(sayInTurn(reported));
    const onStepEnd = (event: unknown) => void heard.push(event as StepFinishEvent);
    const later = dynamicTool({ inputSchema: z.object({}), execute: () => 1 });
    const harness = await serve(
      new ToolLoopAgent({ model, tools: { ...tools, later }, onStepEnd }),
    );
    await harness.play(await harness.begin());
    expect(heard[0]).toMatchObject({
      model: { provider: model.provider, modelId: model.modelId },
      rawFinishReason: 'tool_use',
      providerMetadata: { fake: { cached: 1 } },
      warnings: [{ type: 'unsupported', feature: 'seed' }],
      response: { id: 'r1', modelId: 'exact', timestamp: new Date(5) },
      staticToolCalls: [{ toolName: 'echo' }],
      dynamicToolCalls: [{ toolName: 'later', dynamic: true }],
    });
    const { performance } = heard[1] ?? {};
    expect(performance?.responseTimeMs).toBeGreaterThanOrEqual(0);
    expect(performance?.timeToFirstOutputMs).toBeGreaterThanOrEqual(0);
    expect(performance?.effectiveOutputTokensPerSecond).toBeGreaterThanOrEqual(0);
    expect(heard[1]?.response.timestamp.getTime()).toBeGreaterThan(1_000);
  });

  it('are called again when the worker died after the commit, and not for earlier steps', async () => {
    const heard: unknown[] = [];
    const model = fakeModel(sayInTurn(asks(call('c1', 'echo', { value: 'a' }))));
    const harness = await serve(
      new ToolLoopAgent({
        model,
        tools,
        onStepFinish: (event) => {
          heard.push((event as unknown as StepFinishEvent).step);
        },
        onFinish: () => {
          heard.push('end');
        },
      }),
    );
    const run = await harness.begin();
    await harness.play(run);
    expect(heard).toEqual([1, 2, 'end']);
    expect(await harness.step(run, 2, 2)).toMatchObject({ status: 'completed' });
    expect(heard).toEqual([1, 2, 'end', 2, 'end']);
  });

  it('are not called again for the step before the one that a condition ended', async () => {
    const heard: unknown[] = [];
    const model = fakeModel(sayInTurn(asks(call('c1', 'echo', { value: 'a' }))));
    const agent = new ToolLoopAgent({
      model,
      tools,
      stopWhen: isStepCount(1),
      onStepFinish: () => void heard.push('step'),
      onFinish: () => void heard.push('end'),
    });
    const harness = await serve(agent);
    const run = await harness.begin();
    await harness.play(run);
    await harness.step(run, 2, 2);
    expect(heard).toEqual(['step', 'end', 'end']);
  });

  it('are called for a run whose next run has begun already', async () => {
    const heard: unknown[] = [];
    const model = fakeModel(sayInTurn(asks(call('c1', 'echo', { value: 'a' }))));
    const agent = new ToolLoopAgent({
      model,
      tools,
      onStepFinish: (event) => {
        const { step, runId } = event as unknown as StepFinishEvent;
        heard.push([step, runId]);
      },
      onFinish: (event) => {
        const { steps, runId } = event as unknown as FinishEvent;
        heard.push([steps.length, runId, 'end']);
      },
    });
    const stores = await openTestStores();
    const { queue } = stores.store;
    const beginning = (commit: Steps['commit']) => async (input: CommitInput) => {
      const result = await commit(input);
      if (result.kind === 'committed' && result.next === true) {
        const { sessionId } = input.writer;
        const begun = await queue.begin({ sessionId, nonce: newNonce(), now: Date.now() });
        heard.push(begun.kind);
      }
      return result;
    };
    const store = changing(stores.store, (changes) => {
      const { steps } = changes;
      return { ...changes, steps: { ...steps, commit: beginning(steps.commit) } };
    });
    const harness = await serve(agent, {}, { ...stores, store });
    const run = await harness.begin();
    await harness.session.enqueue('waiting');
    await harness.play(run);
    const { runId } = run;
    expect(heard).toEqual([[1, runId], 'begun', [2, runId], [2, runId, 'end']]);
  });
});

interface Given {
  messages: ModelMessage[];
}

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
