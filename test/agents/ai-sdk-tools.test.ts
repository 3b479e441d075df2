/* oxlint-disable typescript/no-deprecated -- Tools that exist have these forms. */
import { openai } from '@ai-sdk/openai';
import { asSchema, dynamicTool, jsonSchema, tool, zodSchema, type ModelMessage } from 'ai';
import { tool as toolOfSix } from 'ai-v6';
import { z } from 'zod';
import { z as zodThree } from 'zod/v3';
import {
  createSubAgentTool,
  defineAgent,
  DefinitionError,
  defineTool,
  fromAgent,
  fromAiSdkTool,
  toolContextOf,
  type AgentDefinition,
  type AgentTools,
  type ToolContext,
  type ToolDefinition,
} from '../../agents/index.js';

const context = {
  toolCallId: 'c1',
  idempotencyKey: 'key',
  abortSignal: new AbortController().signal,
  showPreliminary: () => undefined,
} as unknown as ToolContext;

const agentWith = (tools: AgentTools): AgentDefinition =>
  defineAgent({ name: 'a', systemPrompt: '', tools, llmConfig: { model: 'scripted' } });

function toolOf({ tools }: AgentDefinition, name = 'weather'): ToolDefinition {
  const found = tools.find((each) => each.name === name);
  if (found === undefined) throw new Error('no such tool');
  return found;
}

function run({ execute }: ToolDefinition, input: unknown): unknown {
  if (typeof execute !== 'function') throw new Error('the browser executes it');
  return execute(input, context);
}

const cityOf = z.object({ city: z.string() });

describe('tools of the AI SDK', () => {
  it('a tool() is executed with its input, its call and the context of this runtime', async () => {
    const seen: unknown[] = [];
    const weather = tool({
      description: 'The weather in a city.',
      inputSchema: cityOf,
      execute: ({ city }, options) => {
        const { toolCallId, abortSignal } = options;
        seen.push(toolCallId, abortSignal, toolContextOf(options).idempotencyKey);
        return { city, celsius: 21 };
      },
    });
    const made = toolOf(agentWith({ weather }));
    expect(made).toMatchObject({ name: 'weather', description: 'The weather in a city.' });
    expect(await run(made, { city: 'Rome' })).toEqual({ city: 'Rome', celsius: 21 });
    expect(seen).toEqual(['c1', context.abortSignal, 'key']);
  });

  it.each<[string, (messages: ModelMessage[]) => unknown]>([
    ['their number', (messages) => messages.length],
    ['one of them', (messages) => messages.at(-1)],
    ['all of them', (messages) => [...messages]],
    ['their JSON', (messages) => JSON.stringify({ messages })],
  ])('one that reads the messages of the conversation gets an error: %s', async (_what, read) => {
    const weather = tool({
      inputSchema: cityOf,
      execute: async (_input, { messages }) => Promise.resolve(read(messages)),
    });
    await expect(run(toolOf(agentWith({ weather })), { city: 'Rome' })).rejects.toMatchObject({
      name: 'ToolError',
      code: 'messages_unavailable',
      message: expect.stringContaining('needsApproval'),
    });
  });

  it('a tool of AI SDK 6 gets the context under the name that it has there', async () => {
    const weather = toolOfSix({
      description: 'The weather in a city.',
      inputSchema: cityOf,
      execute: ({ city }, options) => `${city} ${toolContextOf(options).idempotencyKey}`,
    });
    expect(await run(toolOf(agentWith({ weather })), { city: 'Rome' })).toBe('Rome key');
  });

  it('a tool that the AI SDK itself executes has no context of this runtime', () => {
    expect(() => toolContextOf({ context: {} })).toThrow('not called by an agent');
  });

  it('the last value of a generator is the result', async () => {
    const weather = tool({
      inputSchema: cityOf,
      async *execute({ city }) {
        yield 'looking';
        await Promise.resolve();
        yield `sun in ${city}`;
      },
    });
    expect(await run(toolOf(agentWith({ weather })), { city: 'Rome' })).toBe('sun in Rome');
  });

  it('a generator whose call is over yields nothing more', async () => {
    const controller = new AbortController();
    let yielded = 0;
    const weather = tool({
      inputSchema: cityOf,
      async *execute() {
        for (;;) {
          yielded += 1;
          if (yielded === 3) controller.abort();
          yield await Promise.resolve(yielded);
        }
      },
    });
    const { execute } = toolOf(agentWith({ weather }));
    if (typeof execute !== 'function') throw new Error('no execute');
    expect(await execute({ city: 'Rome' }, { ...context, abortSignal: controller.signal })).toBe(3);
    expect(yielded).toBe(3);
  });

  it('a tool without execute is the browser’s, and its output schema checks what comes back', async () => {
    const weather = tool({ inputSchema: cityOf, outputSchema: z.object({ at: z.number() }) });
    const { execute, outputSchema } = toolOf(agentWith({ weather }));
    expect(execute).toBe('client');
    expect((await outputSchema?.safeParseAsync({ at: 'x' }))?.success).toBe(false);
  });

  it('needsApproval asks a person, always or by its rule', async () => {
    const base = { inputSchema: cityOf, execute: () => 1 };
    const call = {
      ...context,
      sessionId: 's',
      runId: 'r',
      agentId: 's',
      agentType: 'a',
      messages: [],
    };
    expect(toolOf(agentWith({ weather: tool(base) })).requireApproval).toBeUndefined();
    const always = tool({ ...base, needsApproval: true });
    expect(toolOf(agentWith({ weather: always })).requireApproval).toBe(true);
    const byRule = tool({ ...base, needsApproval: ({ city }) => city === 'Rome' });
    const { requireApproval: rule } = toolOf(agentWith({ weather: byRule }));
    if (typeof rule !== 'function') throw new Error('no rule');
    expect([await rule({ city: 'Rome' }, call), await rule({ city: 'Bari' }, call)]).toEqual([
      true,
      false,
    ]);
  });

  it('a setting that is undefined does not take the approval away', () => {
    const weather = tool({ inputSchema: cityOf, execute: () => 1, needsApproval: true });
    const made = fromAiSdkTool('weather', weather, { requireApproval: undefined });
    expect(made.requireApproval).toBe(true);
    const separate = fromAiSdkTool('weather', weather, { separateApprover: true });
    expect(toolOf(agentWith([separate]))).toMatchObject({ separateApprover: true });
  });

  it('settings that only this runtime has are given beside the tool, and are checked', () => {
    const weather = tool({ inputSchema: cityOf, execute: () => 1 });
    const made = fromAiSdkTool('weather', weather, { idempotent: true, timeoutMs: 5 });
    expect(toolOf(agentWith([made]))).toMatchObject({ idempotent: true, timeoutMs: 5 });
    expect(() => agentWith([fromAiSdkTool('weather', weather, { timeoutMs: -1 })])).toThrow(
      'timeoutMs must be',
    );
    expect(() => agentWith([fromAiSdkTool('weather', weather, { deadlineMs: 5 })])).toThrow(
      'deadlineMs needs requireApproval',
    );
  });

  it('our own tools and sub-agents stand beside them under their own names', () => {
    const own = defineTool({
      name: 'own',
      description: 'own',
      inputSchema: cityOf,
      execute: () => 1,
    });
    const agent = agentWith([]);
    const ask = createSubAgentTool({
      agent,
      name: 'ask',
      description: 'Asks.',
      inputSchema: cityOf,
    });
    const weather = dynamicTool({ inputSchema: cityOf, execute: () => 1 });
    const { tools } = defineAgent({
      name: 'b',
      systemPrompt: '',
      tools: { own, ask, weather },
      llmConfig: { model: 'scripted' },
    });
    expect(tools.map(({ name }) => name)).toEqual(['own', 'ask', 'weather']);
    expect(() => agentWith({ other: own })).toThrow('its name is "own"');
  });

  it.each<[string, object, string]>([
    ['a number', { weather: 5 }, 'tool "weather": it must be a tool() of the AI SDK'],
    ['null', { weather: null }, 'tool "weather": it must be a tool() of the AI SDK'],
    ['no schema', { weather: { execute: () => 1 } }, 'tool "weather": it has no inputSchema'],
    [
      'a tool of an unknown type',
      { weather: { type: 'other', id: 'x.y', args: {}, inputSchema: cityOf } },
      'Tool "weather": its type "other" is not known',
    ],
    [
      'an approval that is neither yes nor no',
      { weather: { inputSchema: cityOf, execute: () => 1, needsApproval: 'always' } },
      'needsApproval must be true, false or a function',
    ],
    ['a promise of tools', Promise.resolve({}), 'tools is a promise: await it'],
    ['a map of tools', new Map(), 'tools must be a list, or a plain object'],
    ['a bad name', { 'no good': tool({ inputSchema: cityOf, execute: () => 1 }) }, 'name must be'],
    [
      'a schema that has another kind',
      { weather: { inputSchema: 5, execute: () => 1 } },
      'inputSchema must be',
    ],
  ])('%s is refused by its name', (_, tools, message) => {
    const define = (): unknown => agentWith(tools as unknown as AgentTools);
    expect(define).toThrow(DefinitionError);
    expect(define).toThrow(message);
  });
});

/** A schema of a library that follows Standard Schema. */
const standard = {
  '~standard': {
    version: 1 as const,
    vendor: 'other',
    validate: (value: unknown) =>
      typeof (value as { city?: unknown }).city === 'string'
        ? { value: value as { city: string } }
        : { issues: [{ message: 'must be a text', path: [{ key: 'city' }] }] },
    jsonSchema: {
      input: () => ({ type: 'object', properties: { city: { type: 'string' } } }),
      output: () => ({ type: 'object' }),
    },
  },
};
const plain = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

const listed = (names: string[], more: object = {}) =>
  Object.fromEntries(
    names.map((name) => [name, dynamicTool({ inputSchema: cityOf, execute: () => name, ...more })]),
  );

describe('tools of somebody else’s list', () => {
  it('are called by names that models can tell apart, whatever their own are', async () => {
    const own = ['admin.users.list', 'admin/users/list', 'n'.repeat(70), 'fine'];
    const { tools } = agentWith(listed(own));
    expect(new Set(tools.map(({ name }) => name)).size).toBe(4);
    for (const { name } of tools) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(await Promise.all(tools.map((each) => run(each, {})))).toEqual(own);
    const turned = agentWith(listed([...own].reverse())).tools.map(({ name }) => name);
    expect(turned.sort()).toEqual(tools.map(({ name }) => name).sort());
  });

  it('leave the author’s own tools their names, and are described by theirs if by nothing', () => {
    const a_b = tool({ inputSchema: cityOf, execute: () => 1 });
    const { tools } = agentWith({ ...listed(['a.b'], { description: ' ' }), a_b });
    expect(tools[0]).toMatchObject({ description: 'a.b', listedAs: 'a.b' });
    expect(tools[0]?.name).toMatch(/^a_b_[0-9a-f]{8}$/);
    expect(tools[1]?.name).toBe('a_b');
  });

  it('are named in settings as their list names them', async () => {
    const settings = { model: 'scripted', tools: listed(['a.b', 'c']) };
    const define = (more: object) => fromAgent({ ...settings, ...more }, { name: 'a' });
    const toolChoice = { type: 'tool', toolName: 'a.b' };
    expect(() => define({ activeTools: ['a.b'], toolChoice })).not.toThrow();
    expect(() => define({ activeTools: ['a.x'] })).toThrow('which is no tool');
    const { requireApproval } = toolOf(define({ toolApproval: { 'a.b': 'denied' } }), 'a_b');
    if (typeof requireApproval !== 'function') throw new Error('no rule');
    const call = { toolCallId: 'c1', messages: [] } as never;
    expect(await requireApproval({}, call)).toMatchObject({ approve: false });
  });
});

describe('input schemas', () => {
  it.each<[string, z.ZodType]>([
    ['a date', z.date()],
    ['a coerced date', z.coerce.date()],
    ['a bigint', z.bigint()],
    ['a map', z.map(z.string(), z.number())],
    ['a custom type', z.custom(() => true)],
  ])('that no JSON Schema describes are refused by the tool’s name: %s', (_, when) => {
    for (const inputSchema of [z.object({ when }), zodSchema(z.object({ when }))]) {
      const define = (): unknown => agentWith({ book: tool({ inputSchema, execute: () => 1 }) });
      expect(define).toThrow(DefinitionError);
      expect(define).toThrow(/"book".*inputSchema has no JSON Schema, which the model needs/);
    }
  });

  it.each<[string, unknown]>([
    ['a text', z.string()],
    ['a list', zodThree.array(zodThree.string())],
    ['a JSON Schema of a number', jsonSchema({ type: 'number' })],
  ])('that describe no object are refused by the tool’s name: %s', (_, inputSchema) => {
    const define = (): unknown => agentWith({ book: { inputSchema, execute: () => 1 } });
    expect(define).toThrow(/"book".*inputSchema must describe an object/);
  });

  it('that a provider defines as a text are refused, since calls have an object', () => {
    for (const book of [
      openai.tools.customTool({}),
      openai.tools.customTool({ execute: String }),
    ]) {
      expect(() => agentWith({ book })).toThrow(/"book".*inputSchema must describe an object/);
    }
  });

  it('that come later are left to the run', () => {
    const later = jsonSchema(Promise.reject(new Error('not there')) as never);
    expect(() => agentWith({ book: tool({ inputSchema: later, execute: () => 1 }) })).not.toThrow();
  });

  it.each([
    ['zod 4', cityOf],
    ['zod 3', zodThree.object({ city: zodThree.string() })],
    ['jsonSchema()', jsonSchema(plain as never)],
    ['Standard Schema', standard],
  ])('a schema of %s checks the input and describes it to the model', async (_, inputSchema) => {
    const weather = { inputSchema, execute: (input: { city: string }): string => input.city };
    const made = toolOf(agentWith({ weather }));
    expect(await made.inputSchema.safeParseAsync({ city: 'Rome' })).toMatchObject({
      success: true,
      data: { city: 'Rome' },
    });
    const { success, error } = await made.inputSchema.safeParseAsync({ city: 5 });
    expect(success).toBe(false);
    expect(error?.issues[0]?.path).toEqual(['city']);
    const forModel = await asSchema(made.forModel?.inputSchema).jsonSchema;
    expect(forModel).toMatchObject({ type: 'object', properties: { city: { type: 'string' } } });
  });

  it('a JSON Schema that zod does not know in whole is not checked, as in the AI SDK', async () => {
    const inputSchema = jsonSchema({ type: 'object', if: {}, then: { required: ['a'] } } as never);
    const made = toolOf(agentWith({ weather: { inputSchema, execute: () => 1 } }));
    expect(await made.inputSchema.safeParseAsync({ b: 1 })).toMatchObject({ success: true });
  });

  it('a schema that transforms gives execute what it made', async () => {
    const inputSchema = zodThree.object({ at: zodThree.coerce.date() });
    const weather = { inputSchema, execute: () => 1 };
    const parsed = await toolOf(agentWith({ weather })).inputSchema.safeParseAsync({
      at: '2026-01-01',
    });
    expect(parsed).toMatchObject({ success: true, data: { at: new Date('2026-01-01') } });
  });
});
