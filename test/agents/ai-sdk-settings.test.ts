/* oxlint-disable typescript/no-deprecated -- Agents that exist have these names. */
import { asSchema, tool, ToolLoopAgent } from 'ai';
import { ToolLoopAgent as ToolLoopAgentOfSix } from 'ai-v6';
import { z } from 'zod';
import {
  defineAgent,
  DefinitionError,
  fromAgent,
  fromAiSdkTool,
  type FinishEvent,
  type PrepareStep,
  type PrepareStepOptions,
} from '../../agents/index.js';
import { mcpServers } from '../../extensions/mcp/index.js';

const inputSchema = z.object({ city: z.string() });
const execute = () => 1;
const nothing = () => undefined;

describe('fields of a tool of the AI SDK', () => {
  it.each([
    ['deferLoading', true, 'activeTools'],
    ['idempotent', true, 'as a setting of fromAiSdkTool'],
  ])('"%s", which would have no effect, is refused', (field, value, instead) => {
    const make = (): unknown => fromAiSdkTool('weather', { inputSchema, execute, [field]: value });
    expect(make).toThrow(DefinitionError);
    expect(make).toThrow(`Tool "weather": "${field}" has no effect here`);
    expect(make).toThrow(instead);
  });

  it('those that are not set, and what says where a tool comes from, are taken', () => {
    const metadata = { server: 'files' };
    const weather = tool({ inputSchema, execute, metadata, deferLoading: false });
    const unset = { ...weather, parameters: undefined, _meta: {} };
    expect(fromAiSdkTool('weather', unset).name).toBe('weather');
  });

  it.each<[object, string]>([
    [{ onInputStart: 'log' }, 'onInputStart must be a function'],
    [{ contextSchema: inputSchema }, 'its contextSchema demands a context; use fromAgent'],
  ])('of which nothing could come are refused: %j', (fields, why) => {
    expect(() => fromAiSdkTool('weather', { inputSchema, execute, ...fields })).toThrow(why);
  });

  it("a provider's tool of AI SDK 5 is refused by its version", () => {
    const old = { type: 'provider-defined', id: 'openai.web_search', args: {}, inputSchema };
    expect(() => fromAiSdkTool('search', old)).toThrow('AI SDK 5');
  });
});

describe('schemas of other libraries', () => {
  const validate = (value: unknown) =>
    typeof value === 'object'
      ? { value }
      : // With a value beside them, as valibot has it.
        { value, issues: [{ message: 'must be an object', path: ['city'] }] };
  const input = () => ({ type: 'object', properties: { city: { type: 'string' } } });
  /** As valibot 1 has them. */
  const plain = { '~standard': { version: 1, vendor: 'valibot', validate } };
  /** As arktype 2 has them: functions that describe themselves. */
  const callable = Object.assign(() => undefined, {
    '~standard': { version: 1, vendor: 'arktype', validate, jsonSchema: { input, output: input } },
  });

  it('that the model cannot be given are refused, with what to write instead', () => {
    const make = (schema: unknown) => () =>
      fromAiSdkTool('weather', { inputSchema: schema, execute });
    expect(make(plain)).toThrow(
      'Tool "weather": inputSchema is a schema of valibot without a JSON Schema, which the model needs; wrap it: toStandardJsonSchema(schema)',
    );
    const other = { '~standard': { ...plain['~standard'], vendor: 'own' } };
    expect(make(other)).toThrow('use a version of own with Standard JSON Schema');
  });

  it('that describe themselves are given to the model, and check its input', async () => {
    const made = fromAiSdkTool('weather', { inputSchema: callable, execute });
    const given = await asSchema(made.forModel?.inputSchema).jsonSchema;
    expect(given).toMatchObject({ properties: { city: { type: 'string' } } });
    const checked = await made.inputSchema.safeParseAsync(1);
    expect(checked.error?.issues).toMatchObject([{ path: ['city'], message: 'must be an object' }]);
  });
});

describe('settings of an agent of the AI SDK', () => {
  const base = { id: 'a', model: 'm' };

  it.each([
    ['integrations', { telemetry: { integrations: [{}] } }, 'integrations of "telemetry" would'],
    ['an integration', { telemetry: { integrations: {} } }, 'integrations of "telemetry" would'],
    ['a tracer', { experimental_telemetry: { tracer: {} } }, 'tracer of "experimental_telemetry"'],
    ['onEnd and onFinish', { onEnd: () => 1, onFinish: () => 2 }, 'the older name of onEnd'],
    ['both of a step', { onStepEnd: () => 1, onStepFinish: () => 2 }, 'older name of onStepEnd'],
    ['onStart', { onStart: nothing }, 'use onStepEnd and onEnd'],
    ['onError', { onError: nothing }, '/api/operator/runs'],
    ['toolOrder', { toolOrder: ['a'] }, 'write them in that order'],
  ])('what would silently not happen is refused: %s', (_what, settings, why) => {
    expect(() => fromAgent({ ...base, ...settings })).toThrow(why);
  });

  it('telemetry without own receivers is the business of the operator', () => {
    for (const telemetry of [
      { isEnabled: false, integrations: [{}] },
      { recordInputs: false, integrations: [] },
    ]) {
      expect(fromAgent({ ...base, telemetry, experimental_telemetry: telemetry }).name).toBe('a');
    }
  });

  it('the second argument can name a list of models', () => {
    const { llmConfig } = fromAgent(base, {
      llmConfig: { model: ['first', { model: 'second', callMs: 5 }] },
    });
    expect(llmConfig.models).toMatchObject([{ model: 'first' }, { model: 'second', callMs: 5 }]);
  });
});

describe('time limits of an agent of the AI SDK', () => {
  const base = { id: 'a', model: 'm', tools: { weather: tool({ inputSchema, execute }) } };
  const toolsOf = (timeout: unknown) =>
    fromAgent({ ...base, timeout }).tools.map(({ timeoutMs }) => timeoutMs);

  it('bound model calls, the silence of a model, and calls of tools', () => {
    const timeout = { stepMs: 5, firstChunkMs: 3, chunkMs: 2, toolMs: 7 };
    const { llmConfig } = fromAgent({ ...base, timeout });
    expect(llmConfig).toMatchObject({
      model: 'm',
      stallTimeoutMs: 2,
      models: [{ model: 'm', callMs: 5, firstPartMs: 3 }],
    });
    const others = { llmConfig: { model: ['x', { model: 'y', callMs: 1 }] } };
    expect(fromAgent({ ...base, timeout }, others).llmConfig.models).toMatchObject([
      { model: 'x', callMs: 5, firstPartMs: 3 },
      { model: 'y', callMs: 1, firstPartMs: 3 },
    ]);
    expect(toolsOf(timeout)).toEqual([7]);
    expect(toolsOf({ ...timeout, tools: { weatherMs: 9 } })).toEqual([9]);
    expect(toolsOf(undefined)).toEqual([undefined]);
    const own = [fromAiSdkTool('weather', base.tools.weather, { timeoutMs: 1 })];
    expect(fromAgent({ ...base, timeout }, { tools: own }).tools[0]?.timeoutMs).toBe(1);
  });

  it.each([[60_000], [{ totalMs: 60_000 }]])('do not bound a whole run: %j', (timeout) => {
    expect(() => toolsOf(timeout)).toThrow('a run may wait for people, so nothing bounds its time');
  });

  it('that are no numbers are refused', () => {
    expect(() => toolsOf({ toolMs: 'long' })).toThrow('timeoutMs must be');
    expect(() => toolsOf({ stepMs: -1 })).toThrow('callMs must be');
  });
});

describe('names of tools that an agent does not have', () => {
  const base = { name: 'a', systemPrompt: '', llmConfig: { model: 'm' } };
  const tools = { weather: tool({ inputSchema, execute }) };
  const choice = (toolName: string) => ({ type: 'tool' as const, toolName });

  it('are refused where the names of all tools are known', () => {
    for (const [settings, field] of [
      [{ activeTools: ['weather', 'wether'] }, 'activeTools'],
      [{ toolChoice: choice('wether') }, 'toolChoice'],
    ] as const) {
      expect(() => defineAgent({ ...base, tools, ...settings })).toThrow(
        `Agent "a": ${field} names "wether", which is no tool; its tools are weather`,
      );
      const toolSources = [mcpServers({ files: { url: 'https://mcp.example' } })];
      expect(defineAgent({ ...base, tools, toolSources, ...settings }).name).toBe('a');
    }
    expect(() => defineAgent({ ...base, activeTools: ['weather'] })).toThrow('it has no tools');
  });

  it('are taken for tools that it has, and for its result', () => {
    const settings = { tools, activeTools: ['weather'], outputSchema: z.object({}) };
    expect(defineAgent({ ...base, ...settings, toolChoice: choice('__finish__') }).name).toBe('a');
  });
});

describe('a prepareStep beside that of the agent', () => {
  const options = {
    messages: [{ role: 'user', content: 'stored' }],
    model: 'm',
    instructions: 'stored',
    compaction: { kept: undefined, keep: () => Promise.resolve(undefined) },
  } as unknown as PrepareStepOptions;
  const compose = (own: PrepareStep, given: PrepareStep): PrepareStep => {
    const agent = fromAgent({ id: 'a', model: 'm', prepareStep: own }, { prepareStep: given });
    if (agent.prepareStep === undefined) throw new Error('there is none');
    return agent.prepareStep;
  };

  it('is asked first; the agent’s own sees what it changed, and both count', async () => {
    const seen: unknown[] = [];
    const own: PrepareStep = ({ messages, instructions, model }) => {
      seen.push(messages, instructions, model);
      return { topK: 2, temperature: 1, providerOptions: { openai: { a: 1, b: 1 } } };
    };
    const shorter = [{ role: 'user' as const, content: 'short' }];
    const given: PrepareStep = ({ messages }) => {
      seen.push(messages);
      const changes = { temperature: 0, model: 'other', instructions: 'changed', topK: undefined };
      return {
        ...changes,
        messages: shorter,
        providerOptions: { openai: { b: 2 } },
      };
    };
    expect(await compose(own, given)(options)).toEqual({
      topK: 2,
      temperature: 0,
      model: 'other',
      instructions: 'changed',
      messages: shorter,
      providerOptions: { openai: { a: 1, b: 2 } },
    });
    expect(seen).toEqual([options.messages, shorter, 'changed', 'other']);
  });

  it('counts before it under the older name of a setting, too', async () => {
    const given: PrepareStep = () => ({ system: 'given' });
    expect(await compose(() => ({ instructions: 'own' }), given)(options)).toEqual({
      instructions: 'given',
    });
  });

  it('leaves the agent’s own no summaries to keep for messages that it selected', async () => {
    const own: PrepareStep = async ({ compaction }) => {
      await compaction.keep(() => ({ messages: 1, summary: 's' }), 1_000);
      return undefined;
    };
    const select: PrepareStep = ({ messages }) => ({ messages: [...messages] });
    await expect(compose(own, select)(options)).rejects.toThrow('cannot stand for messages');
    expect(await compose(own, () => undefined)(options)).toEqual({});
  });
});

describe('hooks beside those of the agent', () => {
  it('are called after them, also when they throw', async () => {
    const heard: string[] = [];
    const own = () => {
      heard.push('own');
      throw new Error('own');
    };
    const given = () => heard.push('given');
    const agent = fromAgent(
      new ToolLoopAgent({ id: 'a', model: 'm', onStepEnd: own, onEnd: own }),
      { onStepFinish: given, onFinish: given },
    );
    await expect(agent.onStepFinish?.({} as never)).rejects.toThrow('own');
    await expect(agent.onFinish?.({} as never)).rejects.toThrow('own');
    expect(heard).toEqual(['own', 'given', 'own', 'given']);
  });

  it('are called also when the agent’s own do not come back', () => {
    const onStepEnd = () => new Promise<void>(() => undefined);
    const heard: string[] = [];
    const onStepFinish = () => heard.push('given');
    void fromAgent({ id: 'a', model: 'm', onStepEnd }, { onStepFinish }).onStepFinish?.(
      {} as never,
    );
    expect(heard).toEqual(['given']);
  });

  it('that of AI SDK 6 reads the last step, with the messages of all', async () => {
    const event = {
      usage: { totalTokens: 3 },
      toolCalls: [1, 2],
      response: { id: 'r', messages: [2] },
      finalStep: { usage: { totalTokens: 1 }, toolCalls: [2] },
      responseMessages: [1, 2],
      steps: [],
      totalUsage: { totalTokens: 3 },
    } as unknown as FinishEvent;
    const heard: unknown[] = [];
    const onFinish = ({ usage, totalUsage, toolCalls, response }: FinishEvent): void => {
      heard.push([usage.totalTokens, totalUsage.totalTokens, toolCalls, response.messages]);
    };
    const six = new ToolLoopAgentOfSix({ id: 'a', model: 'm', onFinish: onFinish as never });
    const seven = new ToolLoopAgent({ id: 'a', model: 'm', onFinish: onFinish as never });
    await fromAgent(six).onFinish?.(event);
    await fromAgent(seven).onFinish?.(event);
    expect(heard).toEqual([
      [1, 3, [2], [1, 2]],
      [3, 3, [1, 2], [2]],
    ]);
  });
});
