import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { asSchema } from 'ai';
import type { ToolDefinition } from '../../agents/definitions.js';

const known = new WeakMap<ToolDefinition, Promise<LanguageModelV4FunctionTool>>();

/** Tools as the model is told of them. Made once per definition: schemas are costly to convert. */
export function toFunctionTools(
  tools: readonly ToolDefinition[],
): Promise<LanguageModelV4FunctionTool[]> {
  return Promise.all(tools.map(toFunctionTool));
}

function toFunctionTool(tool: ToolDefinition): Promise<LanguageModelV4FunctionTool> {
  let made = known.get(tool);
  if (made === undefined) {
    made = Promise.resolve(asSchema(tool.inputSchema).jsonSchema).then((inputSchema) => ({
      type: 'function' as const,
      name: tool.name,
      description: tool.description,
      inputSchema,
    }));
    known.set(tool, made);
  }
  return made;
}
