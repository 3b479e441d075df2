import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { jsonSchema, type FlexibleSchema } from 'ai';
import { z } from 'zod';
import { DefinitionError } from '../definition-error.js';

type ResponseFormat = NonNullable<LanguageModelV4CallOptions['responseFormat']>;

/** The parts of `Output.object({ … })` and its variants, AI SDK 6 and 7, that are read here. */
interface AiSdkOutput {
  readonly name?: unknown;
  readonly responseFormat: PromiseLike<ResponseFormat>;
  readonly parseCompleteOutput: (
    options: { text: string },
    context: object,
  ) => PromiseLike<unknown>;
}

/** The model's form of schemas that zod cannot describe. */
const described = new WeakMap<z.ZodType, { schema: FlexibleSchema; output: AiSdkOutput }>();

/** Returns the schema of an agent's result in the model's form. */
export function outputForModel(schema: z.ZodType): FlexibleSchema {
  return described.get(schema)?.schema ?? schema;
}

/** Returns the AI SDK's response format for the result; undefined for a schema of this runtime. */
export async function toResponseFormat(
  schema: z.ZodType | undefined,
): Promise<ResponseFormat | undefined> {
  return schema && described.get(schema)?.output.responseFormat;
}

/**
 * Converts the AI SDK's `output` setting to a result schema; undefined for none, and for text, with
 * which any run without a result ends.
 *
 * @throws DefinitionError for other values
 */
export function toOutputSchema(output: unknown, agent: string): z.ZodType | undefined {
  if (output === undefined) return undefined;
  if (!isOutput(output)) {
    const fault =
      '"output" must be Output.object({ schema }), Output.array, Output.choice or Output.json';
    throw new DefinitionError(fault, { agent });
  }
  if (output.name === 'text') return undefined;
  const schema = z.unknown().transform(async (value, context) => {
    try {
      return await output.parseCompleteOutput({ text: JSON.stringify(value ?? null) }, CONTEXT);
    } catch (error) {
      context.addIssue({ code: 'custom', message: reasonOf(error) });
      return z.NEVER;
    }
  });
  const forModel = jsonSchema(async () => {
    const format = await output.responseFormat;
    return (format.type === 'json' ? format.schema : undefined) ?? {};
  });
  described.set(schema, { schema: forModel, output });
  return schema;
}

/** Context that the AI SDK only quotes in errors. */
const CONTEXT = { response: {}, usage: {}, finishReason: 'tool-calls' };

function isOutput(value: unknown): value is AiSdkOutput {
  if (typeof value !== 'object' || value === null) return false;
  return 'responseFormat' in value && 'parseCompleteOutput' in value;
}

/** Returns the cause's message, which names the fields at fault. */
function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  const known = cause instanceof Error ? cause : error;
  return known instanceof Error ? known.message : String(known);
}
