import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { jsonSchema, type FlexibleSchema } from 'ai';
import { z } from 'zod';
import { DefinitionError } from '../definition-error.js';

type ResponseFormat = NonNullable<LanguageModelV4CallOptions['responseFormat']>;

/** What this runtime reads of `Output.object({ … })` and its like, of AI SDK 6 and 7. */
interface AiSdkOutput {
  readonly name?: unknown;
  readonly responseFormat: PromiseLike<ResponseFormat>;
  readonly parseCompleteOutput: (
    options: { text: string },
    context: object,
  ) => PromiseLike<unknown>;
}

/** What the model is given of schemas that zod cannot describe. */
const described = new WeakMap<z.ZodType, { schema: FlexibleSchema; output: AiSdkOutput }>();

/** The schema that the model is given of an agent's result. */
export function outputForModel(schema: z.ZodType): FlexibleSchema {
  return described.get(schema)?.schema ?? schema;
}

/** The format in which the AI SDK asks the model to write the result; undefined for a schema of this runtime. */
export async function toResponseFormat(
  schema: z.ZodType | undefined,
): Promise<ResponseFormat | undefined> {
  return schema && described.get(schema)?.output.responseFormat;
}

/**
 * The schema of an agent's result from the setting `output` of the AI SDK; undefined for none, and for text, which is
 * what a run without a result ends with.
 *
 * @throws DefinitionError for something else
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

/** Only errors of the AI SDK quote it. */
const CONTEXT = { response: {}, usage: {}, finishReason: 'tool-calls' };

function isOutput(value: unknown): value is AiSdkOutput {
  if (typeof value !== 'object' || value === null) return false;
  return 'responseFormat' in value && 'parseCompleteOutput' in value;
}

/** What does not fit is in the cause, which names the fields. */
function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  const known = cause instanceof Error ? cause : error;
  return known instanceof Error ? known.message : String(known);
}
