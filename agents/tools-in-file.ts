import type { AiSdkTool } from './ai-sdk/ai-sdk-tool.js';
import type { ToolDefinition } from './definitions.js';

/** Tools by name: this runtime's, or those of the AI SDK. */
export type FoundTools = Record<string, ToolDefinition | AiSdkTool>;

/** The tools that a module exports: one by one, in lists, or in objects by name. */
export function toolsIn(loaded: Readonly<Record<string, unknown>>): FoundTools {
  const found: FoundTools = {};
  for (const [name, value] of Object.entries(loaded)) {
    if (isTool(value)) found[nameOf(value, name)] = value;
    else if (typeof value === 'object' && value !== null) {
      for (const [inner, each] of Object.entries(value)) {
        if (isTool(each)) found[nameOf(each, inner)] = each;
      }
    }
  }
  return found;
}

function isTool(value: unknown): value is ToolDefinition | AiSdkTool {
  if (typeof value !== 'object' || value === null || !('inputSchema' in value)) return false;
  return 'execute' in value || 'description' in value;
}

function nameOf(tool: ToolDefinition | AiSdkTool, exported: string): string {
  return 'name' in tool ? tool.name : exported;
}
