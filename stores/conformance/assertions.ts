import { deepStrictEqual, fail } from 'node:assert/strict';
import { HelixError, type ErrorCode } from '../../protocol/errors.js';

/** Asserts equality of contents; a field that is undefined counts as absent. */
export function equal(actual: unknown, expected: unknown, message?: string): void {
  deepStrictEqual(toPlain(actual), toPlain(expected), message);
}

/** Asserts that all that `expected` names is there; arrays must have the same length. */
export function includes(actual: unknown, expected: unknown): void {
  deepStrictEqual(project(actual, expected), toPlain(expected));
}

/** Asserts a typed refusal. */
export async function refuses(work: Promise<unknown>, code: ErrorCode): Promise<HelixError> {
  const outcome = await work.then(
    (value: unknown) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('value' in outcome) fail(`expected ${code}, but it was accepted`);
  if (!HelixError.isInstance(outcome.error)) throw outcome.error;
  deepStrictEqual(outcome.error.code, code);
  return outcome.error;
}

/** Everything rebuilt here: test frameworks load modules into realms with other prototypes. */
function toPlain(value: unknown): unknown {
  if (Array.isArray(value)) return Array.from(value, toPlain);
  if (!isObject(value)) return value;
  const present = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(present.map(([key, field]) => [key, toPlain(field)]));
}

/** The part of `actual` that `expected` speaks of. */
function project(actual: unknown, expected: unknown): unknown {
  if (Array.isArray(actual) && Array.isArray(expected)) {
    return Array.from(actual, (item: unknown, at) =>
      at < expected.length ? project(item, expected[at]) : item,
    );
  }
  if (!isObject(actual) || !isObject(expected)) return toPlain(actual);
  const wanted = Object.entries(expected).filter(([, field]) => field !== undefined);
  return Object.fromEntries(
    wanted.flatMap(([key, field]) =>
      actual[key] === undefined ? [] : [[key, project(actual[key], field)]],
    ),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
