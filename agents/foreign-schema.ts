import { AI_SDK } from './ai-sdk/tool-schema.js';

const CONVERT = 'z.fromJSONSchema({ … })';

/** Why a value is not a zod 4 schema, and what to write instead; undefined if it is one. */
export function findForeignSchema(value: unknown): string | undefined {
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
