/** What a test expects of a value: objects may have more keys, texts may be matched by a pattern. */
export type Expected = unknown;

/**
 * Whether a value is as expected. An object has to have the expected keys, a list the same length; a
 * RegExp matches a text, and a function judges the value.
 */
export function matches(actual: unknown, expected: Expected): boolean {
  if (expected instanceof RegExp) return typeof actual === 'string' && expected.test(actual);
  if (typeof expected === 'function')
    return Boolean((expected as (value: unknown) => unknown)(actual));
  if (typeof expected !== 'object' || expected === null) return Object.is(actual, expected);
  if (typeof actual !== 'object' || actual === null) return false;
  if (Array.isArray(expected)) {
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((each, at) => matches(actual[at], each))
    );
  }
  return Object.entries(expected).every(([key, value]) =>
    matches((actual as Record<string, unknown>)[key], value),
  );
}
