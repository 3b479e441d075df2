import { z } from 'zod';
import { AI_SDK } from './ai-sdk/tool-schema.js';

/** Names of agents and tools; every provider accepts them as function names. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** Characters of a wrong value that a message quotes. */
const QUOTED = 40;

/**
 * A field that must pass a test. Its message continues the field's name: `maxSteps must be a whole
 * number above 0, not 1.5`.
 */
export function must<T>(be: string, isFit: (value: unknown) => boolean): z.ZodType<T> {
  return z.custom<T>(isFit, {
    error: ({ input }) =>
      input === undefined ? `is missing; it must be ${be}` : `must be ${be}, not ${show(input)}`,
  });
}

/**
 * An object with exactly these fields. `insteadOf` maps names from other libraries to the intended
 * field.
 */
export function settings<Shape extends z.core.$ZodShape>(
  shape: Shape,
  insteadOf: Readonly<Record<string, string>> = {},
): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') {
        return issue.input === undefined
          ? 'is missing; it must be an object'
          : `must be an object, not ${show(issue.input)}`;
      }
      const unknown = issue.keys.map((key) =>
        Object.hasOwn(insteadOf, key) ? `"${key}" (use ${insteadOf[key] ?? ''})` : `"${key}"`,
      );
      return `has no field ${unknown.join(', ')}; its fields are ${Object.keys(shape).join(', ')}`;
    },
  });
}

export const Name = must<string>(
  '1 to 64 letters, digits, "_" or "-"',
  (value) => typeof value === 'string' && NAME.test(value),
);
export const Text = must<string>('a string', (value) => typeof value === 'string');
export const Flag = must<boolean>('true or false', (value) => typeof value === 'boolean');
export const Count = must<number>('a whole number above 0', isCount);
export const Duration = must<number>(
  'a whole number of milliseconds above 0',
  (value) => Number.isSafeInteger(value) && (value as number) > 0,
);
export const Amount = must<number>('a number of at least 0', isAmount);
export const PositiveAmount = must<number>(
  'a number above 0',
  (value) => isAmount(value) && (value as number) > 0,
);

/** A field that is a function. */
export function callback<F>(): z.ZodType<F> {
  return must<F>('a function', isFunction);
}

/** A function of unknown type. */
export const Callback = callback<(...input: never[]) => unknown>();

/** A zod 4 schema; the message names the library of a foreign one. */
export const Schema = z.custom<z.ZodType>((value) => findForeignSchema(value) === undefined, {
  error: ({ input }) => findForeignSchema(input) ?? '',
});

/** A zod 4 schema with a JSON Schema, which models need. */
export const SchemaForModel = Schema.superRefine((schema, context) => {
  const fault = findJsonSchemaFault(schema);
  if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
});

/** A SchemaForModel of an object: for any other parameters, providers refuse the whole request. */
export const InputSchema = SchemaForModel.superRefine((schema, context) => {
  if (findJsonSchemaFault(schema) !== undefined || toJsonSchema(schema).type === 'object') return;
  context.addIssue({ code: 'custom', message: 'must describe an object: z.object({ … })' });
});

export function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

export function isAmount(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

export function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Formats a wrong value for a message. */
export function show(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > QUOTED ? `${value.slice(0, QUOTED)}…` : value);
  }
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}

function findJsonSchemaFault(schema: z.ZodType): string | undefined {
  try {
    toJsonSchema(schema);
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `has no JSON Schema, which the model needs: ${reason}`;
  }
}

function toJsonSchema(schema: z.ZodType): { type?: unknown } {
  return z.toJSONSchema(schema, { target: 'draft-7', io: 'input' });
}

const CONVERT = 'z.fromJSONSchema({ … })';

/** Returns the fault of a value that is no zod 4 schema, and its replacement. */
function findForeignSchema(value: unknown): string | undefined {
  if (value === undefined) return 'is missing; it must be a zod 4 schema: z.object({ … })';
  if (typeof value !== 'object' || value === null) {
    return 'is not a zod 4 schema; write z.object({ … })';
  }
  if ('_zod' in value) return undefined;
  if (AI_SDK in value) {
    return `is not a zod 4 schema but a jsonSchema() of the AI SDK; write z.object({ … }), or pass its JSON Schema to ${CONVERT}`;
  }
  if ('_def' in value) {
    return 'is not a zod 4 schema but a zod 3 schema; install zod 4, or import z from "zod/v4"';
  }
  if ('~standard' in value) {
    const { vendor } = value['~standard'] as { vendor?: unknown };
    return `is not a zod 4 schema but a schema of ${String(vendor)}; write z.object({ … })`;
  }
  if (
    'properties' in value ||
    '$schema' in value ||
    typeof (value as { type?: unknown }).type === 'string'
  ) {
    return `is not a zod 4 schema but a JSON Schema; write ${CONVERT}`;
  }
  return 'is not a zod 4 schema; write z.object({ … })';
}
