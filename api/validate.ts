import type { Request } from 'express';
import type { z } from 'zod';
import { HelixError } from '../protocol/errors.js';
import { SessionPath } from '../protocol/http.js';

/**
 * A request's body in the shape of a schema.
 *
 * @throws HelixError `validation_error` that says what is wrong, and where
 */
export function parseBody<S extends z.ZodType>(schema: S, request: Request): z.infer<S> {
  return parse(schema, request.body ?? {}, 'request');
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
  const problems = parsed.error.issues.slice(0, 5).map((issue) => {
    const path = issue.path.map(String).join('.');
    return path === '' ? issue.message : `${path}: ${issue.message}`;
  });
  throw new HelixError('validation_error', `The ${what} is not valid: ${problems.join('; ')}`);
}
