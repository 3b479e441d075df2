import { isDeepStrictEqual } from 'node:util';

/**
 * Expectation of a value. Objects may have further keys, a RegExp matches text, and matchers of jest and
 * vitest (`expect.any(Number)`) work.
 */
export type Expected = unknown;

/**
 * Returns true if a value meets the expectation. An object must have the expected keys and a list the same
 * length; a RegExp matches text, a function judges the value, and anything else must be equal.
 */
export function matches(actual: unknown, expected: Expected): boolean {
  // `test` of a pattern with the flag g would start where its last match ended.
  if (expected instanceof RegExp) return typeof actual === 'string' && actual.search(expected) >= 0;
  if (typeof expected === 'function')
    return Boolean((expected as (value: unknown) => unknown)(actual));
  if (typeof expected !== 'object' || expected === null) return Object.is(actual, expected);
  if (isMatcher(expected)) return expected.asymmetricMatch(actual);
  if (Array.isArray(expected)) {
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((each, at) => matches(actual[at], each))
    );
  }
  if (!isPlain(expected)) return isDeepStrictEqual(actual, expected);
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual)) return false;
  return Object.entries(expected).every(([key, value]) =>
    matches((actual as Record<string, unknown>)[key], value),
  );
}

/** Matcher that jest and vitest create by `expect.any` and the like. */
interface Matcher {
  asymmetricMatch: (value: unknown) => boolean;
  toAsymmetricMatcher?: () => string;
}

export function isMatcher(value: unknown): value is Matcher {
  if (typeof value !== 'object' || value === null || !('asymmetricMatch' in value)) return false;
  return typeof value.asymmetricMatch === 'function';
}

/** Returns true for plain objects of any realm, since test runners have several. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
