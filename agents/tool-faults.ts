import { z } from 'zod';
import { FINISH_TOOL_NAME } from '../protocol/ids.js';
import type { ToolDefinition } from './definitions.js';
import { findExecutionFault } from './execution-faults.js';
import { findNameFault } from './names.js';

/** The first thing that makes a tool unusable, as the end of a sentence; undefined if it is fine. */
export function findToolFault(tool: ToolDefinition): string | undefined {
  if (tool.name === FINISH_TOOL_NAME) return 'the name is reserved for the result of the agent';
  return (
    findNameFault(tool.name) ??
    findDescriptionFault(tool) ??
    findSchemaFault('inputSchema', tool.inputSchema) ??
    findInputFault(tool.inputSchema) ??
    (tool.outputSchema && findSchemaFault('outputSchema', tool.outputSchema)) ??
    findExecutionFault(tool)
  );
}

/** Refuses what is no zod 4 schema: another library's, or an older zod's. */
export function findSchemaFault(field: string, schema: unknown): string | undefined {
  const isZod4 = typeof schema === 'object' && schema !== null && '_zod' in schema;
  return isZod4 ? undefined : `${field} is not a zod 4 schema`;
}

/** Refuses what the model could not be told of. */
export function findOutputFault(schema: z.ZodType): string | undefined {
  const fault = findSchemaFault('outputSchema', schema);
  if (fault !== undefined) return fault;
  try {
    z.toJSONSchema(schema, { target: 'draft-7', io: 'input' });
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `outputSchema has no JSON Schema that a model could be given: ${reason}`;
  }
}

function findDescriptionFault({ description }: ToolDefinition): string | undefined {
  return typeof description === 'string' && description.trim() !== ''
    ? undefined
    : 'description is empty';
}

function findInputFault(schema: z.ZodType): string | undefined {
  let type: unknown;
  try {
    type = z.toJSONSchema(schema, { target: 'draft-7', io: 'input' }).type;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `inputSchema has no JSON Schema that a model could be given: ${reason}`;
  }
  // Providers refuse a request with any other kind of parameters, for all of its tools.
  return type === 'object' ? undefined : 'inputSchema must describe an object';
}
