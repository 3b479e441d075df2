import { describe, expect, it } from '@jest/globals';
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
  type ToolDefinition,
} from '../../agents/index.js';

type AnyTool = ToolConfig<z.ZodType, z.ZodType>;
type AnyAgent = AgentConfig<z.ZodType, z.ZodType>;

const tool: AnyTool = {
  name: 'add',
  description: 'Adds.',
  inputSchema: z.object({ a: z.number() }),
  execute: () => 1,
};
const tooDeep: unknown = JSON.parse('['.repeat(501) + ']'.repeat(501));
const agent: AnyAgent = {
  name: 'sums',
  systemPrompt: 'You add.',
  llmConfig: { model: createScriptedModel() },
};

describe('defineTool', () => {
  it('types the callbacks from the schemas and keeps the definition frozen', () => {
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

  it.each<[string, Partial<AnyTool>]>([
    ['the name must be', { name: 'a b' }],
    ['the name must be', { name: '' }],
    ['the name must be', { name: 'x'.repeat(65) }],
    ['reserved', { name: '__finish__' }],
    ['description is empty', { description: ' ' }],
    ['not a zod 4 schema', { inputSchema: {} as z.ZodType }],
    ['not a zod 4 schema', { outputSchema: {} as z.ZodType }],
    ['must describe an object', { inputSchema: z.string() }],
    ['no JSON Schema', { inputSchema: z.object({ at: z.date() }) }],
    ['execute must be', { execute: 'server' as 'client' }],
    ['requireApproval runs execute on the server', { execute: 'client', requireApproval: true }],
    ['requireApproval must be', { requireApproval: false as unknown as true }],
    ['waits for none', { deadlineMs: 5 }],
    ['timeoutMs limits', { execute: 'client', timeoutMs: 5 }],
    ['timeoutMs must be', { timeoutMs: 0 }],
    ['deadlineMs must be', { execute: 'client', deadlineMs: 1.5 }],
    ['safe only for tools that are idempotent', { retry: { attempts: 2 } }],
    ['retry repeats execute on the server', { execute: 'client', retry: { attempts: 2 } }],
    ['retry.attempts must be', { idempotent: true, retry: { attempts: 1 } }],
    ['retry.attempts must be', { idempotent: true, retry: { attempts: Infinity } }],
    ['retry.coefficient must be', { idempotent: true, retry: { attempts: 2, coefficient: 0.5 } }],
    [
      'retry.initialIntervalMs must be',
      { idempotent: true, retry: { attempts: 2, initialIntervalMs: -1 } },
    ],
    [
      'retry.maximumIntervalMs must be',
      { idempotent: true, retry: { attempts: 2, maximumIntervalMs: 0.5 } },
    ],
    ['finishWith ends the run on the server', { execute: 'client', finishWith: true }],
    ['finishWith must be', { finishWith: false as unknown as true }],
    ['onExpiry needs a deadlineMs', { execute: 'client', onExpiry: { result: 1 } }],
    ['onExpiry needs a deadlineMs', { onExpiry: 'deny' }],
    ['must be { result }', { execute: 'client', deadlineMs: 1, onExpiry: 'deny' }],
    [
      "must be 'deny' or 'approve'",
      { requireApproval: true, deadlineMs: 1, onExpiry: { result: 1 } },
    ],
    ['nested too deeply', { execute: 'client', deadlineMs: 1, onExpiry: { result: tooDeep } }],
    ['written as JSON', { execute: 'client', deadlineMs: 1, onExpiry: { result: 1n } }],
    [
      'does not fit outputSchema',
      { execute: 'client', deadlineMs: 1, onExpiry: { result: 1 }, outputSchema: z.string() },
    ],
  ])('refuses: %s (%j)', (fault, change) => {
    const config = { ...tool, ...change };
    expect(() => defineTool(config)).toThrow(DefinitionError);
    expect(() => defineTool(config)).toThrow(`Tool "${config.name}": `);
    expect(() => defineTool(config)).toThrow(fault);
  });

  it.each<[string, Partial<AnyTool>]>([
    ['a client tool with a deadline', { execute: 'client', deadlineMs: 2000 }],
    [
      'an approval with a deadline and a timeout',
      { requireApproval: true, deadlineMs: 1, timeoutMs: 1 },
    ],
    [
      'a decision for want of an answer',
      { requireApproval: true, deadlineMs: 1, onExpiry: 'approve' },
    ],
    [
      'a result for want of an answer',
      { execute: 'client', deadlineMs: 1, onExpiry: { result: 'x' }, outputSchema: z.string() },
    ],
    ['a tool that is tried again', { idempotent: true, retry: { attempts: 5, coefficient: 1 } }],
    ['a tool that ends the run', { finishWith: (output: unknown) => ({ output }) }],
    ['a schema that transforms', { inputSchema: z.object({ a: z.string().transform(Number) }) }],
  ])('takes %s', (_, change) => {
    expect(() => defineTool({ ...tool, ...change })).not.toThrow();
  });
});

describe('defineAgent', () => {
  it('is frozen data, and does not create its model', () => {
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

  it('types the system prompt from the state schema', () => {
    const { systemPrompt } = defineAgent({
      ...agent,
      stateSchema: z.object({ mood: z.string().default('calm') }),
      systemPrompt: ({ mood }) => `Be ${mood}.`,
    });
    expect(typeof systemPrompt === 'function' && systemPrompt({ mood: 'calm' })).toBe('Be calm.');
  });

  it.each<[string, Partial<AnyAgent>]>([
    ['the name must be', { name: 'a/b' }],
    ['systemPrompt must be', { systemPrompt: 1 as unknown as string }],
    ['llmConfig.model is missing', { llmConfig: {} as AnyAgent['llmConfig'] }],
    ['llmConfig.model is missing', { llmConfig: undefined }],
    ['maxSteps must be', { maxSteps: 0 }],
    ['stateSchema is not', { stateSchema: {} as z.ZodType }],
    ['outputSchema is not', { outputSchema: {} as z.ZodType }],
  ])('refuses: %s (%j)', (fault, change) => {
    const config = { ...agent, ...change };
    expect(() => defineAgent(config)).toThrow(`Agent "${config.name}": `);
    expect(() => defineAgent(config)).toThrow(fault);
  });

  it('names agent and tool when a tool is at fault', () => {
    const add = defineTool(tool);
    expect(() => defineAgent({ ...agent, tools: [add, add] })).toThrow(
      'Agent "sums", tool "add": the name is used by two tools',
    );
    const bad: ToolDefinition = { ...add, name: 'no good' };
    expect(() => defineAgent({ ...agent, tools: [bad] })).toThrow('Agent "sums", tool "no good": ');
  });

  it('allows 50 steps unless it is told otherwise', () => {
    expect(DEFAULT_MAX_STEPS).toBe(50);
    expect(resolveMaxSteps(defineAgent(agent))).toBe(50);
    expect(resolveMaxSteps(defineAgent({ ...agent, maxSteps: 3 }))).toBe(3);
    expect(resolveMaxSteps(defineAgent({ ...agent, maxSteps: Infinity }))).toBe(Infinity);
  });
});

describe('AgentRegistry', () => {
  const sums = defineAgent(agent);

  it('finds agents by name', () => {
    const registry = new AgentRegistry([sums]);
    registry.register(sums);
    expect(registry.resolve('sums')).toBe(sums);
    expect(registry.get('other')).toBeUndefined();
    expect([registry.has('sums'), registry.has('other')]).toEqual([true, false]);
    expect(registry.getRegisteredTypes()).toEqual(['sums']);
  });

  it('says which agent is missing', () => {
    const registry = new AgentRegistry();
    expect(() => registry.resolve('sums')).toThrow(AgentNotFoundError);
    expect(() => registry.resolve('sums')).toThrow('"sums"');
  });

  it('refuses a second agent of the same name, and forgets on request', () => {
    const registry = new AgentRegistry([sums]);
    expect(() => {
      registry.register(defineAgent(agent));
    }).toThrow(DefinitionError);
    expect([registry.unregister('sums'), registry.unregister('sums')]).toEqual([true, false]);
    registry.register(sums);
    registry.clear();
    expect(registry.getRegisteredTypes()).toEqual([]);
  });

  it('asks a factory each time, and tells it whose agent it is', () => {
    const registry = new AgentRegistry([], { region: 'eu' });
    const factory = ({ userId = 'nobody', env }: AgentScope): AgentDefinition =>
      defineAgent({ ...agent, systemPrompt: `For ${userId} in ${String(env?.['region'])}.` });
    registry.registerFactory('sums', factory);
    registry.registerFactory('sums', factory);
    expect(registry.resolve('sums', { userId: 'ann' }).systemPrompt).toBe('For ann in eu.');
    expect(registry.get('sums')?.systemPrompt).toBe('For nobody in eu.');
    expect([registry.has('sums'), registry.getRegisteredTypes()]).toEqual([true, ['sums']]);
    expect(() => {
      registry.register(sums);
    }).toThrow('Agent "sums": another agent is registered under this name');
    expect(() => {
      registry.registerFactory('sums', () => sums);
    }).toThrow(DefinitionError);
  });

  it('refuses what a factory must not make', () => {
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
      'Agent "parent", tool "subagent__sums": "sums" must be registered by itself',
    );
    registry.register(sums);
    expect(registry.resolve('parent').tools).toEqual([delegate]);
  });

  it('replaces an agent', () => {
    const registry = new AgentRegistry([sums]);
    const newer = defineAgent({ ...agent, systemPrompt: 'You subtract.' });
    registry.replace(newer);
    expect(registry.resolve('sums')).toBe(newer);
    expect(defaultAgentRegistry.has('sums')).toBe(false);
  });
});
