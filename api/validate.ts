import type { Request } from 'express';
import type { z } from 'zod';
import { HelixError } from '../protocol/errors.js';
import { isSessionId } from '../protocol/ids.js';

/**
 * A request's body in the shape of a schema.
 *
 * @throws HelixError `validation_error` that says what is wrong, and where
 */
export function parseBody<S extends z.ZodType>(schema: S, request: Request): z.infer<S> {
  const parsed = schema.safeParse(request.body ?? {});
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.slice(0, 5).map((issue) => {
    const path = issue.path.map(String).join('.');
    return path === '' ? issue.message : `${path}: ${issue.message}`;
  });
  throw new HelixError('validation_error', `The request is not valid: ${problems.join('; ')}`);
}

/** @throws HelixError `validation_error` */
export function parseSessionId(value: unknown): string {
  if (isSessionId(value)) return value;
  throw new HelixError('validation_error', 'The session id must match [A-Za-z0-9_-]{1,128}.');
}

/** A query parameter that is given at most once. */
export function readQuery(request: Request, name: string): string | undefined {
  const value = request.query[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new HelixError('validation_error', `The query parameter "${name}" is given twice.`);
}
