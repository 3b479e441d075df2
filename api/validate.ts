import type { Request } from 'express';
import type { z } from 'zod';
import { HelixError } from '../protocol/errors.js';

/** Bounds of what a refusal says about faults: their texts quote the request. */
const PROBLEMS = 5;
const PROBLEM_CHARS = 300;
/** Members or list items at the top of a body; stock clients send ten. */
const MEMBERS = 1_000;

/**
 * A request's body in the shape of a schema.
 *
 * @throws HelixError `validation_error`, with the faults and their paths
 */
export function parseBody<S extends z.ZodType>(schema: S, request: Request): z.infer<S> {
  const body: unknown = request.body ?? {};
  // Schemas visit all members, and some list unknown ones.
  if (typeof body === 'object' && body !== null && Object.keys(body).length > MEMBERS) {
    throw new HelixError('validation_error', 'The request is not valid: it has too many members.');
  }
  return parse(schema, body, 'request');
}

/** A request's query. A repeated parameter is a list, which no schema accepts. @throws as above */
export function parseQuery<S extends z.ZodType>(schema: S, request: Request): z.infer<S> {
  return parse(schema, request.query, 'query');
}

/** The parameters of a request's path. @throws as above */
export function parsePath<S extends z.ZodType>(schema: S, request: Request): z.infer<S> {
  return parse(schema, request.params, 'path');
}

function parse<S extends z.ZodType>(schema: S, value: unknown, what: string): z.infer<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues
    .flatMap(toFaults)
    .slice(0, PROBLEMS)
    .map(({ path, message }) => {
      const at = path.map(String).join('.');
      const text = at === '' ? message : `${at}: ${message}`;
      return text.slice(0, PROBLEM_CHARS).toWellFormed();
    });
  throw new HelixError('validation_error', `The ${what} is not valid: ${problems.join('; ')}`);
}

type Fault = Pick<z.core.$ZodIssue, 'path' | 'message'>;

/** The faults of an issue; of a union those against its closest member, the one with the fewest. */
function toFaults(issue: z.core.$ZodIssue): Fault[] {
  if (issue.code !== 'invalid_union') return [issue];
  const [closest] = [...issue.errors].sort((one, other) => one.length - other.length);
  if (closest === undefined) return [issue];
  return closest
    .flatMap(toFaults)
    .map(({ path, message }) => ({ path: [...issue.path, ...path], message }));
}
