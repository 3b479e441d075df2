import { isDeepStrictEqual } from 'node:util';

/**
 * What a test expects of a value: objects may have more keys, texts may be matched by a pattern, and
 * matchers of jest and vitest (`expect.any(Number)`) judge for themselves.
 */
export type Expected = unknown;

/**
 * Whether a value is as expected. An object has to have the expected keys, a list the same length; a
 * RegExp matches a text, and a function judges the value. Anything else is to be equal.
 */
export function matches(actual: unknown, expected: Expected): boolean {
  // `test` of a pattern with the flag g begins where the last one ended.
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

/** What jest and vitest make by `expect.any` and the like. */
interface Matcher {
  asymmetricMatch: (value: unknown) => boolean;
  toAsymmetricMatcher?: () => string;
}

export function isMatcher(value: unknown): value is Matcher {
  if (typeof value !== 'object' || value === null || !('asymmetricMatch' in value)) return false;
  return typeof value.asymmetricMatch === 'function';
}

/** Also of another realm: test runners have some. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
