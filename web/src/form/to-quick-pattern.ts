/** A longer text is checked by the server only. */
const LONG_CHARS = 100;
const MOST_ALTERNATIVES = 5;

/**
 * A pattern that browsers may match against a text at each key: one of a stranger's schema could take
 * hours. Repeated groups and references back are left to the server, which checks all. Pure.
 */
export function toQuickPattern(pattern: unknown, value: unknown): string | undefined {
  if (typeof pattern !== 'string') return undefined;
  if (typeof value === 'string' && value.length > LONG_CHARS) return undefined;
  // What is escaped repeats nothing, and neither does what stands in a class.
  const plain = pattern.replace(/\\[^1-9k]/g, 'x').replace(/\[[^\]]*\]/g, 'x');
  const repeats = plain.replace(/\(\?/g, '(').match(/[*+?]|\{\d+,\d*\}/g)?.length ?? 0;
  const isSlow =
    /\\|\)[*+?{]/.test(plain) ||
    repeats > (plain.startsWith('^') ? 3 : 1) ||
    plain.split('|').length > MOST_ALTERNATIVES + 1;
  return isSlow ? undefined : pattern;
}
