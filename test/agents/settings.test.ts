import { jsonSchema } from 'ai';
import { z } from 'zod';
import {
  createScriptedModel,
  createSubAgentTool,
  defineAgent,
  defineTool,
} from '../../agents/index.js';
import { refusalOf, tool, weather } from './settings.js';

const agent = {
  name: 'sums',
  systemPrompt: 'You add.',
  llmConfig: { model: createScriptedModel() },
};

describe('defineAgent', () => {
  it.each<[object, string]>([
    [{ name: 'a/b' }, 'name must be 1 to 64 letters, digits, "_" or "-", not "a/b"'],
    [
      { systemPrompt: 1 },
      'systemPrompt must be a string, system messages, or a function of the state, not 1',
    ],
    [{ description: 1 }, 'description must be a string, not 1'],
    [{ llmConfig: undefined }, 'llmConfig is missing; it must be an object'],
    [
      { llmConfig: {} },
      'llmConfig.model is missing; it must be a model of the AI SDK, its id, or a function that returns it',
    ],
    [
      { llmConfig: { ...agent.llmConfig, maxTokens: 5 } },
      'llmConfig has no field "maxTokens"; its fields are model, temperature, maxOutputTokens, topP, topK, presencePenalty, frequencyPenalty, stopSequences, seed, reasoning, headers, providerOptions, strictOutput, pricing, maxOutputUsd, stallTimeoutMs, retryForMs, maxTries',
    ],
    [
      { llmConfig: { ...agent.llmConfig, pricing: { inputPerMTok: -1, outputPerMTok: 1 } } },
      'llmConfig.pricing.inputPerMTok must be a number of at least 0, not -1',
    ],
    [
      { llmConfig: { ...agent.llmConfig, providerOptions: { openai: 1 } } },
      'llmConfig.providerOptions must be an object of objects by provider: { openai: { … } }, not an object',
    ],
    [{ maxSteps: 0 }, 'maxSteps must be a whole number above 0, or Infinity, not 0'],
    [{ maxCallsPerStep: 1001 }, 'maxCallsPerStep must be a whole number from 1 to 1,000, not 1001'],
    [{ spendCap: { usd: 0 } }, 'spendCap.usd must be a number above 0, not 0'],
    [{ spendCap: { usd: 1 } }, 'spendCap.usd needs llmConfig.pricing'],
    [
      { activities: 'steps' },
      `activities must be 'leg', or be left out for one activity for each step and call, not "steps"`,
    ],
    [{ prepareStep: true }, 'prepareStep must be a function, not true'],
    [{ stateSchema: {} }, 'stateSchema is not a zod 4 schema; write z.object({ … })'],
    [
      { stateSchema: z.object({ n: z.number() }) },
      'stateSchema must accept {}: give every field a default',
    ],
    [
      { stateSchema: z.object({ n: z.string().default('1').transform(Number) }) },
      'stateSchema must accept what it returns, as JSON',
    ],
    [{ stateSchema: z.object({}).transform(() => [1]) }, 'stateSchema must return an object'],
    [
      { stateSchema: z.object({}).refine(async () => true) },
      'stateSchema cannot be used: Encountered Promise during synchronous parse. Use .parseAsync() instead.',
    ],
    [
      { outputSchema: jsonSchema({ type: 'object' }) },
      'outputSchema is not a zod 4 schema but a jsonSchema() of the AI SDK; write z.object({ … }), or pass its JSON Schema to z.fromJSONSchema({ … })',
    ],
    [
      { tools: 'weather' },
      `tools must be a list, not "weather"; write tools: [defineTool({ name: 'weather', … })]`,
    ],
    [
      { tools: [weather] },
      'tools[0] is a tool() of the AI SDK, which has no name; write tools: { <name>: tool({ … }) }',
    ],
    [
      { tools: [defineAgent({ ...agent, name: 'other' })] },
      'tools[0] is an agent; write createSubAgentTool({ agent, inputSchema })',
    ],
    [{ tools: ['weather'] }, 'tools[0] must be what defineTool() returned, not "weather"'],
  ])('defineAgent refuses %j and explains: %s', (change, fault) => {
    const config = { ...agent, ...change };
    expect(refusalOf(() => defineAgent(config))).toBe(`Agent "${config.name}": ${fault}`);
  });

  it.each<[object, string]>([
    [{ model: 'openai/gpt-5' }, '"model" (use llmConfig: { model })'],
    [
      { maxRetries: 2 },
      '"maxRetries" (use llmConfig: { maxTries }, which counts the first one, too)',
    ],
    [{ presencePenalty: 1 }, '"presencePenalty" (use llmConfig: { presencePenalty })'],
    [{ system: 'x', output: 1 }, '"system" (use systemPrompt), "output" (use outputSchema)'],
    [{ temprature: 1 }, '"temprature"'],
  ])('defineAgent names the fields of %j that an agent does not have', (change, fields) => {
    expect(refusalOf(() => defineAgent({ ...agent, ...change }))).toContain(
      `Agent "sums": it has no field ${fields}; its fields are name, description, `,
    );
  });

  it('defineAgent names agent and tool when a tool in its list has a fault', () => {
    const add = defineTool(tool);
    expect(refusalOf(() => defineAgent({ ...agent, tools: [add, add] }))).toBe(
      'Agent "sums", tool "add": another tool has the same name',
    );
    const bad = { ...add, timeoutMs: -1 };
    expect(refusalOf(() => defineAgent({ ...agent, tools: [bad] }))).toBe(
      'Agent "sums", tool "add": timeoutMs must be a whole number of milliseconds above 0, not -1',
    );
  });
});

const inputSchema = z.object({});
const described = defineAgent({ ...agent, description: 'Adds.' });

it.each<[object, string]>([
  [
    { agent: undefined, name: 'x' },
    'Tool "x": agent is missing; it must be what defineAgent() returned',
  ],
  [
    { agent: { name: 'x' } },
    'Agent "x", tool "subagent__x": agent must be what defineAgent() returned, not an object',
  ],
  [
    { agent: defineAgent(agent) },
    'Agent "sums", tool "subagent__sums": description is missing; it must be a text for the model that is not empty',
  ],
  [
    { name: 'no good' },
    'Agent "sums", tool "no good": name must be 1 to 64 letters, digits, "_" or "-", not "no good"',
  ],
  [
    { toMessage: 'x' },
    'Agent "sums", tool "subagent__sums": toMessage must be a function, not "x"',
  ],
  [
    { execute: 'client' },
    'Agent "sums", tool "subagent__sums": it has no field "execute"; its fields are agent, name, title, description, inputSchema, toMessage',
  ],
])('createSubAgentTool refuses %j and explains: %s', (change, message) => {
  const config = { agent: described, inputSchema, ...change };
  expect(refusalOf(() => createSubAgentTool(config))).toBe(message);
});
