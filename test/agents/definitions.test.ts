import { z } from 'zod';
import {
  AgentNotFoundError,
  AgentRegistry,
  createScriptedModel,
  createSubAgentTool,
  defaultAgentRegistry,
  DEFAULT_MAX_STEPS,
  defineAgent,
  DefinitionError,
  defineTool,
  resolveMaxSteps,
  type AgentConfig,
  type AgentDefinition,
  type AgentScope,
  type ToolConfig,
} from '../../agents/index.js';

type AnyTool = ToolConfig<z.ZodType, z.ZodType>;
type AnyAgent = AgentConfig<z.ZodType, z.ZodType>;

const tool: AnyTool = {
  name: 'add',
  description: 'Adds.',
  inputSchema: z.object({ a: z.number() }),
  execute: () => 1,
};
const agent: AnyAgent = {
  name: 'sums',
  systemPrompt: 'You add.',
  llmConfig: { model: createScriptedModel() },
};

it('defineTool types the callbacks from the schemas and keeps the definition frozen', () => {
  const add = defineTool({
    name: 'add',
    description: 'Adds.',
    inputSchema: z.object({ a: z.number(), b: z.number().default(1) }),
    outputSchema: z.object({ sum: z.number() }),
    execute: ({ a, b }) => ({ sum: a + b }),
    requireApproval: ({ a }) => a.toFixed() !== '0',
  });
  expect(Object.isFrozen(add)).toBe(true);
  expect(add.inputSchema.parse({ a: 1 })).toEqual({ a: 1, b: 1 });
  // @ts-expect-error the result must fit outputSchema
  defineTool({ ...tool, outputSchema: z.object({ sum: z.number() }), execute: () => ({}) });
});

describe('defineAgent', () => {
  it('defineAgent returns frozen data, and does not create the model', () => {
    const sums = defineAgent({
      ...agent,
      tools: [defineTool(tool)],
      llmConfig: {
        model: () => {
          throw new Error('created');
        },
      },
    });
    expect([sums, sums.tools, sums.llmConfig].every(Object.isFrozen)).toBe(true);
    expect(sums.tools.map(({ name }) => name)).toEqual(['add']);
    expect(defineAgent(agent).tools).toEqual([]);
  });

  it('defineAgent types the system prompt from the state schema', () => {
    const { systemPrompt } = defineAgent({
      ...agent,
      stateSchema: z.object({ mood: z.string().default('calm') }),
      systemPrompt: ({ mood }) => `Be ${mood}.`,
    });
    expect(typeof systemPrompt === 'function' && systemPrompt({ mood: 'calm' })).toBe('Be calm.');
  });

  it('defineAgent allows 50 steps by default', () => {
    expect(DEFAULT_MAX_STEPS).toBe(50);
    expect(resolveMaxSteps(defineAgent(agent))).toBe(50);
    expect(resolveMaxSteps(defineAgent({ ...agent, maxSteps: 3 }))).toBe(3);
    expect(resolveMaxSteps(defineAgent({ ...agent, maxSteps: Infinity }))).toBe(Infinity);
  });
});

describe('AgentRegistry', () => {
  const sums = defineAgent(agent);

  it('AgentRegistry finds agents by name', () => {
    const registry = new AgentRegistry([sums]);
    registry.register(sums);
    expect(registry.resolve('sums')).toBe(sums);
    expect(registry.get('other')).toBeUndefined();
    expect([registry.has('sums'), registry.has('other')]).toEqual([true, false]);
    expect(registry.getRegisteredTypes()).toEqual(['sums']);
  });

  it('AgentRegistry names the agent that is missing', () => {
    const registry = new AgentRegistry();
    expect(() => registry.resolve('sums')).toThrow(AgentNotFoundError);
    expect(() => registry.resolve('sums')).toThrow('"sums"');
  });

  it('AgentRegistry refuses a second agent of the same name, and forgets on request', () => {
    const registry = new AgentRegistry([sums]);
    expect(() => {
      registry.register(defineAgent(agent));
    }).toThrow(DefinitionError);
    expect([registry.unregister('sums'), registry.unregister('sums')]).toEqual([true, false]);
    registry.register(sums);
    registry.clear();
    expect(registry.getRegisteredTypes()).toEqual([]);
  });

  it('AgentRegistry calls a factory each time, with the scope', () => {
    const registry = new AgentRegistry([], { region: 'eu' });
    const factory = ({ userId = 'guests', env }: AgentScope): AgentDefinition =>
      defineAgent({ ...agent, systemPrompt: `For ${userId} in ${String(env?.['region'])}.` });
    registry.registerFactory('sums', factory);
    registry.registerFactory('sums', factory);
    expect(registry.resolve('sums', { userId: 'ann' }).systemPrompt).toBe('For ann in eu.');
    expect(registry.get('sums')?.systemPrompt).toBe('For guests in eu.');
    const env = { region: 'us' };
    expect(registry.get('sums', { env })?.systemPrompt).toBe('For guests in us.');
    expect([registry.has('sums'), registry.getRegisteredTypes()]).toEqual([true, ['sums']]);
    expect(() => {
      registry.register(sums);
    }).toThrow('Agent "sums": another agent is registered under this name');
    expect(() => {
      registry.registerFactory('sums', () => sums);
    }).toThrow(DefinitionError);
  });

  it('AgentRegistry refuses what a factory must not return', () => {
    const registry = new AgentRegistry();
    registry.registerFactory('other', () => sums);
    expect(() => registry.resolve('other')).toThrow(
      'Agent "other": its factory made an agent named "sums"',
    );
    const delegate = createSubAgentTool({
      agent: sums,
      description: 'Sums.',
      inputSchema: z.object({}),
    });
    registry.registerFactory('parent', () =>
      defineAgent({ ...agent, name: 'parent', tools: [delegate] }),
    );
    expect(() => registry.resolve('parent')).toThrow(
      'Agent "parent", tool "subagent__sums": "sums" must be registered separately',
    );
    registry.register(sums);
    expect(registry.resolve('parent').tools).toEqual([delegate]);
  });

  it('AgentRegistry replaces an agent', () => {
    const registry = new AgentRegistry([sums]);
    const newer = defineAgent({ ...agent, systemPrompt: 'You subtract.' });
    registry.replace(newer);
    expect(registry.resolve('sums')).toBe(newer);
    expect(defaultAgentRegistry.has('sums')).toBe(false);
  });
});
