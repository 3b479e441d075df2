import { jsonSchema, type FlexibleSchema } from 'ai';
import { z } from 'zod';
import { DefinitionError } from '../definition-error.js';

/** What this runtime reads of `Output.object({ … })` and its like, of AI SDK 6 and 7. */
interface AiSdkOutput {
  readonly name?: unknown;
  readonly responseFormat: PromiseLike<{ readonly type: string; readonly schema?: object }>;
  readonly parseCompleteOutput: (
    options: { text: string },
    context: object,
  ) => PromiseLike<unknown>;
}

/** What the model is given of schemas that zod cannot describe. */
const described = new WeakMap<z.ZodType, FlexibleSchema>();

/** The schema that the model is given of an agent's result. */
export function outputForModel(schema: z.ZodType): FlexibleSchema {
  return described.get(schema) ?? schema;
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
  described.set(
    schema,
    jsonSchema(async () => (await output.responseFormat).schema ?? {}),
  );
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
