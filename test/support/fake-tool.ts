import { z } from 'zod';
import { defineTool, type ToolConfig, type ToolDefinition } from '../../agents/index.js';

/** Defines a tool that is described by its name, and that takes no input unless `more` says so. */
export function fakeTool<Input extends z.ZodType = z.ZodObject>(
  name: string,
  execute: ToolConfig<Input, z.ZodType>['execute'],
  more: Partial<ToolConfig<Input, z.ZodType>> = {},
): ToolDefinition {
  const base = { name, description: name, inputSchema: z.object({}) as unknown as Input };
  return defineTool({ ...base, execute, ...more });
}
