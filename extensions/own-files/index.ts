import { statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import {
  AgentRegistry,
  defaultAgentRegistry,
  defineAgent,
  DefinitionError,
  fromAgent,
  modelsFromSpec,
  type AgentDefinition,
  type AiSdkTool,
  type ModelEnvironment,
  type ToolDefinition,
} from '../../agents/index.js';
import { ConfigError } from '../../config/env.js';

/** The file of agents cannot be used. The message is one sentence that names the file. */
export class AgentsFileError extends Error {
  override readonly name = 'AgentsFileError';
}

export interface AgentsFileOptions {
  /** Folder of relative paths. Default: the folder of the process. */
  readonly folder?: string;
  /** `MODEL` and its provider's variables, for a file that exports tools alone. */
  readonly env?: ModelEnvironment;
}

/**
 * Loads a person's own agents from TypeScript or JavaScript, as ES module or CommonJS. The file
 * exports agents by default or by name, one by one, in lists or as a registry, or registers them in
 * `defaultAgentRegistry`; a `ToolLoopAgent` of the AI SDK counts as one. If it exports only tools,
 * an agent named `assistant` gets them all.
 *
 * @throws AgentsFileError if there is no such file, it cannot be loaded, or it has no agents
 */
export async function loadAgentsFile(
  path: string,
  { folder = process.cwd(), env = {} }: AgentsFileOptions = {},
): Promise<AgentRegistry> {
  const file = resolve(folder, path);
  const name = relative(folder, file);
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw new AgentsFileError(`There is no file ${name} in ${folder}.`);
  if (!stats.isFile())
    throw new AgentsFileError(`${name} is a folder; name the file of your agents.`);
  const loaded = await load<Record<string, unknown>>(file).catch((error: unknown) => {
    throw new AgentsFileError(`${name} cannot be loaded: ${toReason(error, folder)}`, {
      cause: error,
    });
  });
  try {
    const found = registryOf(name, loaded) ?? (await assistantWith(toolsIn(loaded), env));
    if (found !== undefined) return found;
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    throw new AgentsFileError(`${name} cannot be used: ${error.message}`, { cause: error });
  }
  throw new AgentsFileError(`${name} exports no agents: export what defineAgent({ … }) returns.`);
}

/** @throws DefinitionError for two agents of one name; AgentsFileError for two registries */
function registryOf(
  file: string,
  loaded: Readonly<Record<string, unknown>>,
): AgentRegistry | undefined {
  const { default: main, ...named } = loaded;
  const exported = [['assistant', main] as const, ...Object.entries(named)];
  const values = exported.map(([name, value]) => asAgent(value, name)).flat(2);
  const registries = new Set(values.filter((value) => value instanceof AgentRegistry));
  if (registries.size > 1) throw new AgentsFileError(`${file} exports more than one registry.`);
  const [registry = new AgentRegistry()] = registries;
  for (const agent of values.filter(isAgent)) registry.register(agent);
  if (registry.getRegisteredTypes().length > 0) return registry;
  return defaultAgentRegistry.getRegisteredTypes().length > 0 ? defaultAgentRegistry : undefined;
}

/** An agent of the AI SDK without an id is named after its export. */
function asAgent(value: unknown, exportedAs: string): unknown {
  if (typeof value !== 'object' || value === null || !('version' in value)) return value;
  if (!('generate' in value && 'stream' in value && 'tools' in value)) return value;
  const { id } = value as { id?: string };
  return fromAgent(value, { name: id ?? exportedAs });
}

function isAgent(value: unknown): value is AgentDefinition {
  if (typeof value !== 'object' || value === null) return false;
  return (
    'llmConfig' in value && 'systemPrompt' in value && 'name' in value && Object.isFrozen(value)
  );
}

async function assistantWith(
  tools: FoundTools,
  env: NonNullable<AgentsFileOptions['env']>,
): Promise<AgentRegistry | undefined> {
  if (Object.keys(tools).length === 0) return undefined;
  const model = await modelsFromSpec(env['MODEL'], env);
  const systemPrompt = 'You are a helpful assistant. Use your tools.';
  return new AgentRegistry([
    defineAgent({ name: 'assistant', systemPrompt, tools, llmConfig: { model } }),
  ]);
}

function toReason(error: unknown, folder: string): string {
  if (!(error instanceof Error)) return String(error);
  const parsed = /^ParseError: (.+?)\s*\n\s*(\S+:\d+:\d+)/.exec(error.message);
  if (parsed) return `${parsed[1] ?? ''} (${relative(folder, parsed[2] ?? '')}).`;
  const [message = ''] = error.message.split('\n');
  const frame = error.stack
    ?.split('\n')
    .find((line) => line.includes(folder) && !line.includes('node_modules'));
  const at = /(?:file:\/\/)?(\/[^()]+:\d+:\d+)/.exec(frame ?? '')?.[1];
  const missing = /^Cannot find (?:module|package) '((?:@[\w.-]+\/)?[\w][\w.-]*)/.exec(
    message,
  )?.[1];
  // An empty folder lacks both, and the user would only miss zod at the next try.
  const packages = missing === 'helix-temporal' ? 'helix-temporal zod' : missing;
  const hint = packages === undefined ? '' : `; it is not installed here: npm i ${packages}`;
  return `${message}${hint}${at === undefined ? '' : ` (${relative(folder, at)})`}`;
}

/** Tools by name: this runtime's, or those of the AI SDK. */
type FoundTools = Record<string, ToolDefinition | AiSdkTool>;

/** Collects the tools that a module exports one by one, in lists, or in objects by name. */
function toolsIn(loaded: Readonly<Record<string, unknown>>): FoundTools {
  const found: FoundTools = {};
  const exported = Object.entries(loaded).flatMap<[string, unknown]>(([name, value]) =>
    isTool(value) || typeof value !== 'object' ? [[name, value]] : Object.entries(value ?? {}),
  );
  for (const [name, value] of exported) if (isTool(value)) found[nameOf(value, name)] = value;
  return found;
}

function isTool(value: unknown): value is ToolDefinition | AiSdkTool {
  if (typeof value !== 'object' || value === null || !('inputSchema' in value)) return false;
  return 'execute' in value || 'description' in value;
}

function nameOf(tool: ToolDefinition | AiSdkTool, exported: string): string {
  return 'name' in tool ? tool.name : exported;
}

/**
 * Loads a person's own extensions from the TypeScript or JavaScript file that `EXTENSIONS` names:
 * its exports, one by one or in lists.
 *
 * @throws ConfigError if the file cannot be loaded or has none
 */
export async function loadExtensions<E extends { readonly name: string }>(
  path: string | undefined,
): Promise<E[]> {
  if (path === undefined) return [];
  const loaded = await load<object>(resolve(path)).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new ConfigError(`Bad configuration: EXTENSIONS cannot be loaded: ${reason ?? ''}`);
  });
  const values = new Set(Object.values(loaded).flat());
  const found = [...values].filter(
    (value): value is E => typeof value === 'object' && value !== null && 'name' in value,
  );
  if (found.length === 0) {
    throw new ConfigError(`Bad configuration: EXTENSIONS: ${path} exports no extension.`);
  }
  return found;
}

async function load<Module>(file: string): Promise<Module> {
  const { createJiti } = await import('jiti');
  // Node loads packages, so that both sides get the same module.
  const jiti = createJiti(import.meta.url, { fsCache: false, interopDefault: false });
  return jiti.import<Module>(file);
}
