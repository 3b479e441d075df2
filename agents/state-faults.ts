import type { z } from 'zod';
import { findSchemaFault } from './tool-faults.js';

/** What makes a schema unusable for a state that is kept as JSON and read again and again. */
export function findStateFault(schema: z.ZodType): string | undefined {
  const fault = findSchemaFault('stateSchema', schema);
  if (fault !== undefined) return fault;
  let first: unknown;
  try {
    const parsed = schema.safeParse({});
    if (!parsed.success) return 'stateSchema must accept {}: give every field a default';
    first = parsed.data;
    const json: unknown = JSON.parse(JSON.stringify(first));
    if (typeof first !== 'object' || first === null || Array.isArray(first)) {
      return 'stateSchema must give an object';
    }
    const again = schema.safeParse(json);
    const isStable = again.success && JSON.stringify(again.data) === JSON.stringify(first);
    return isStable ? undefined : 'stateSchema must accept what it gives, as JSON';
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `stateSchema cannot be used: ${reason}`;
  }
}
