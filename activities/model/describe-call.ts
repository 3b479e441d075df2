import { asSchema } from 'ai';
import { z } from 'zod';
import type { ToolDefinition } from '../../agents/definitions.js';
import type { CallDescription, NewCall } from '../../stores/contract/call-record.js';

/** It is stored with each call, and sent to each page that asks what waits. */
const MOST_SCHEMA_BYTES = 16_384;
const MOST_DESCRIPTION_CHARS = 1_000;

/** Converted once for each tool; undefined for a tool whose schema pages cannot use. */
const schemas = new WeakMap<ToolDefinition, Promise<unknown>>();

/** What people are shown of a call beside its input; undefined if none is asked. */
export async function describeCall(
  agent: string,
  tool: ToolDefinition,
  kind: NewCall['kind'],
): Promise<CallDescription | undefined> {
  if (kind !== 'approval' && kind !== 'client') return undefined;
  const { title, description } = tool;
  let schema = schemas.get(tool);
  if (schema === undefined) {
    schema = toFormSchema(tool);
    schemas.set(tool, schema);
  }
  return {
    agent,
    ...(title !== undefined && { title }),
    description: description.slice(0, MOST_DESCRIPTION_CHARS).toWellFormed(),
    schema: await schema,
  };
}

/** A schema that JSON Schema cannot express costs the form, never the call. */
async function toFormSchema(tool: ToolDefinition): Promise<unknown> {
  try {
    const schema: unknown =
      tool.execute === 'client'
        ? tool.outputSchema && z.toJSONSchema(tool.outputSchema, { io: 'input' })
        : await asSchema(tool.forModel?.inputSchema ?? tool.inputSchema).jsonSchema;
    const text = JSON.stringify(schema ?? null);
    if (text === 'null' || Buffer.byteLength(text) > MOST_SCHEMA_BYTES) return undefined;
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
