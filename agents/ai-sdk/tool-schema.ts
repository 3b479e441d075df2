import { asSchema, type FlexibleSchema, type JSONSchema7 } from 'ai';
import { z } from 'zod';

interface Issue {
  path: PropertyKey[];
  message: string;
}

/** Marks results of the AI SDK's `jsonSchema()` and `zodSchema()`. */
export const AI_SDK = Symbol.for('vercel.ai.schema');

/** Returns true if the AI SDK accepts the value as a tool's schema. */
export function isToolSchema(value: unknown): value is FlexibleSchema {
  if (typeof value === 'function') return true;
  if (typeof value !== 'object' || value === null) return false;
  return '_zod' in value || '~standard' in value || AI_SDK in value;
}

/**
 * Returns the reason that a schema cannot describe a tool's input, for which providers refuse the
 * whole request; undefined if it can.
 */
export function findInputFault(source: FlexibleSchema): string | undefined {
  const undescribed = findUndescribed(source);
  if (undescribed !== undefined) return undescribed;
  try {
    const described: unknown = asSchema(source).jsonSchema;
    if (isThenable(described)) {
      // Only the run can read a schema that resolves later.
      described.then(undefined, () => undefined);
      return undefined;
    }
    const { type = 'object' } = described as { type?: unknown };
    return type === 'object' ? undefined : 'must describe an object: z.object({ … })';
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `has no JSON Schema, which the model needs: ${reason}`;
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null)?.then === 'function';
}

/** Refuses Standard Schema libraries that do not describe their schemas as JSON Schema. */
function findUndescribed(source: FlexibleSchema): string | undefined {
  if ('_zod' in source || AI_SDK in source || !('~standard' in source)) return undefined;
  const { vendor, jsonSchema } = source['~standard'] as { vendor: string; jsonSchema?: unknown };
  if (vendor === 'zod' || (jsonSchema !== undefined && jsonSchema !== null)) return undefined;
  const instead =
    vendor === 'valibot'
      ? 'wrap it: toStandardJsonSchema(schema) of @valibot/to-json-schema'
      : `use a version of ${vendor} with Standard JSON Schema, or jsonSchema({ … }, { validate })`;
  return `is a schema of ${vendor} without a JSON Schema, which the model needs; ${instead}`;
}

/**
 * Converts any schema of an AI SDK tool to zod 4: zod 3, `jsonSchema()`, or a Standard Schema. The
 * result checks only asynchronously and has no JSON Schema of its own.
 */
export function toToolSchema(source: FlexibleSchema): z.ZodType {
  if ('_zod' in source) return source as z.ZodType;
  return z.unknown().transform(async (value, context) => {
    const checked = await check(source, value);
    if ('data' in checked) return checked.data;
    for (const { path, message } of checked.issues) {
      context.addIssue({ code: 'custom', path, message, input: value });
    }
    return z.NEVER;
  });
}

async function check(
  source: FlexibleSchema,
  value: unknown,
): Promise<{ data: unknown } | { issues: Issue[] }> {
  if (!(AI_SDK in source) && '~standard' in source) {
    const result = await source['~standard'].validate(value);
    // A library may return a value with its issues, which the AI SDK takes for success.
    const { issues } = result;
    if (issues !== undefined) return { issues: issues.map(toIssue) };
    return { data: 'value' in result ? result.value : value };
  }
  const schema = asSchema(source);
  if (schema.validate === undefined) return checkJson(await schema.jsonSchema, value);
  const result = await schema.validate(value);
  return result.success ? { data: result.value } : { issues: toIssues(result.error) };
}

/** Cache; undefined for a schema that zod does not fully know. */
const converted = new WeakMap<object, z.ZodType | undefined>();

/**
 * Checks input against a plain `jsonSchema()`, which itself validates nothing. As in the AI SDK,
 * schemas that zod cannot convert are not checked.
 */
function checkJson(schema: JSONSchema7, value: unknown): { data: unknown } | { issues: Issue[] } {
  if (!converted.has(schema)) converted.set(schema, convert(schema));
  const parsed = converted.get(schema)?.safeParse(value);
  return parsed?.success === false ? { issues: parsed.error.issues } : { data: value };
}

function convert(schema: JSONSchema7): z.ZodType | undefined {
  try {
    return z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema);
  } catch {
    return undefined;
  }
}

/** Reads issues from the error or its cause. */
function toIssues(error: Error): Issue[] {
  for (const each of [error, error.cause]) {
    const issues: unknown = Array.isArray(each)
      ? each
      : (each as { issues?: unknown } | undefined)?.issues;
    if (Array.isArray(issues)) return issues.map(toIssue);
  }
  return [{ path: [], message: error.message }];
}

function toIssue(issue: { readonly path?: unknown; readonly message?: unknown }): Issue {
  const path = Array.isArray(issue.path) ? (issue.path as unknown[]) : [];
  return { path: path.map(toKey), message: String(issue.message) };
}

/** Converts a path step of Standard Schema, which may be an object. */
function toKey(step: unknown): PropertyKey {
  const key: unknown = typeof step === 'object' && step !== null && 'key' in step ? step.key : step;
  return typeof key === 'symbol' || typeof key === 'number' ? key : String(key);
}
