import type { Request } from 'express';
import type { z } from 'zod';
import { HelixError } from '../protocol/errors.js';
import { SessionPath } from '../protocol/http.js';

/** What a sender is told of its faults: they name what it sent. */
const PROBLEMS = 5;
const PROBLEM_CHARS = 300;
/** Members of a body or list items at its top; stock clients send ten. */
const MEMBERS = 1_000;

/**
 * A request's body in the shape of a schema.
 *
 * @throws HelixError `validation_error` that says what is wrong, and where
 */
export function parseBody<S extends z.ZodType>(schema: S, request: Request): z.infer<S> {
  const body: unknown = request.body ?? {};
  // Schemas look at all members, and some name those that they do not know.
  if (typeof body === 'object' && body !== null && Object.keys(body).length > MEMBERS) {
    throw new HelixError('validation_error', 'The request is not valid: it has too many members.');
  }
  return parse(schema, body, 'request');
}

/** A request's query. A parameter that is given twice is a list, which no schema takes. @throws as above */
export function parseQuery<S extends z.ZodType>(schema: S, request: Request): z.infer<S> {
  return parse(schema, request.query, 'query');
}

/** The parameters of a request's path. @throws as above */
export function parsePath<S extends z.ZodType>(schema: S, request: Request): z.infer<S> {
  return parse(schema, request.params, 'path');
}

/** The session that a request's path names. @throws as above */
export function parseSessionId(request: Request): string {
  return parsePath(SessionPath, request).sessionId;
}

function parse<S extends z.ZodType>(schema: S, value: unknown, what: string): z.infer<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.slice(0, PROBLEMS).map((issue) => {
    const path = issue.path.map(String).join('.');
    const text = path === '' ? issue.message : `${path}: ${issue.message}`;
    return text.slice(0, PROBLEM_CHARS).toWellFormed();
  });
  throw new HelixError('validation_error', `The ${what} is not valid: ${problems.join('; ')}`);
}
