/* oxlint-disable typescript/no-deprecated -- Agents that exist have these names. */
import { asSchema, tool } from 'ai';
import { z } from 'zod';
import { defineAgent, DefinitionError, fromAgent, fromAiSdkTool } from '../../agents/index.js';
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
    [{ onInputStart: nothing }, '"onInputStart" has no effect here'],
    [{ contextSchema: inputSchema }, 'services of the worker'],
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
    ['onStart', nothing, 'use onStepEnd and onEnd'],
    ['toolOrder', ['a'], 'remove it'],
    ['prepareCall', nothing, 'use prepareStep'],
    ['timeout', 5, 'stallTimeoutMs'],
    ['runtimeContext', {}, 'services of the worker'],
  ])('what would silently not happen is refused: %s', (field, value, why) => {
    const make = () => fromAgent({ ...base, [field]: value });
    expect(make).toThrow(`"${field}" cannot be kept in a durable run`);
    expect(make).toThrow(why);
  });

  it('the second argument can name a list of models', () => {
    const { llmConfig } = fromAgent(base, {
      llmConfig: { model: ['first', { model: 'second', callMs: 5 }] },
    });
    expect(llmConfig.models).toMatchObject([{ model: 'first' }, { model: 'second', callMs: 5 }]);
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
