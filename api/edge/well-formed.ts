const ESCAPE = Buffer.from('\\ud');
const UPPER_ESCAPE = Buffer.from('\\uD');

/** True if JSON in UTF-8 may have halves of characters: it has them as escapes only. */
export function mayHaveLoneSurrogates(json: Buffer): boolean {
  return json.includes(ESCAPE) || json.includes(UPPER_ESCAPE);
}

/**
 * The same JSON value with every half of a character replaced, also in keys. A text that was cut
 * within an emoji is no reason to refuse a conversation, but it has no UTF-8, and scripts of the
 * store cannot read its JSON.
 */
export function toWellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(toWellFormed);
  if (typeof value !== 'object' || value === null) return value;
  // Built from entries, so that `__proto__` stays a key like any other.
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key.toWellFormed(), toWellFormed(inner)]),
  );
}
