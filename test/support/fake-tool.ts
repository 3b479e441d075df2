import { z } from 'zod';
import { defineTool, type ToolConfig, type ToolDefinition } from '../../agents/index.js';

type Config = ToolConfig<z.ZodObject, z.ZodType>;

/** Defines a tool without input that is described by its name. */
export function fakeTool(
  name: string,
  execute: Config['execute'],
  more: Partial<Config> = {},
): ToolDefinition {
  return defineTool({ name, description: name, inputSchema: z.object({}), execute, ...more });
}
