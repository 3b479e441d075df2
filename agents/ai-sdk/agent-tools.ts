import { DefinitionError } from '../definition-error.js';
import type { ToolDefinition } from '../definitions.js';
import { toDefinition, type AiSdkTool } from './ai-sdk-tool.js';
import { toModelNames } from '../tool-names.js';
import type { AgentContexts } from './contexts.js';

/** An agent's tools: a list of this runtime's tools, or an object by name as in the AI SDK. */
export type AgentTools =
  readonly ToolDefinition[] | Readonly<Record<string, ToolDefinition | AiSdkTool>>;

/** Returns the tools as a list. @throws DefinitionError for an unusable tool */
export function toTools(
  tools: AgentTools = [],
  agent: string,
  contexts?: AgentContexts,
): ToolDefinition[] {
  if (Array.isArray(tools)) return [...(tools as readonly ToolDefinition[])];
  if ('then' in tools) throw new DefinitionError('tools is a promise: await it', { agent });
  const prototype: unknown = Object.getPrototypeOf(tools);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new DefinitionError('tools must be a list, or a plain object of tools by name', {
      agent,
    });
  }
  const entries = Object.entries(tools);
  const listed = new Set(entries.flatMap(([name, tool]) => (isListed(tool) ? [name] : [])));
  const taken = new Set(Object.keys(tools).filter((name) => !listed.has(name)));
  const names = toModelNames(listed, { taken });
  return entries.map(([given, tool]) => {
    const made = toTool(given, tool, agent, contexts);
    const name = names.get(given) ?? given;
    return name === given ? made : Object.freeze({ ...made, name, listedAs: given });
  });
}

/** Returns true for a tool of a list, such as an MCP server's: its author did not name it. */
function isListed(tool: ToolDefinition | AiSdkTool | null | undefined): boolean {
  if (typeof tool !== 'object' || tool === null || 'name' in tool) return false;
  return tool.type === 'dynamic' || 'metadata' in tool || '_meta' in tool;
}

function toTool(
  name: string,
  tool: ToolDefinition | AiSdkTool | null | undefined,
  agent: string,
  contexts: AgentContexts | undefined,
): ToolDefinition {
  if (typeof tool !== 'object' || tool === null) {
    throw new DefinitionError('it must be a tool() of the AI SDK', { agent, tool: name });
  }
  if (!('name' in tool)) {
    if ('inputSchema' in tool) return toDefinition(name, tool, {}, contexts);
    const fault = 'it has no inputSchema; write tool({ description, inputSchema, execute })';
    throw new DefinitionError(fault, { agent, tool: name });
  }
  if (tool.name === name) return tool;
  throw new DefinitionError(`its name is "${tool.name}", and must be the same`, {
    agent,
    tool: name,
  });
}
