/** Half of a surrogate pair, as JSON.stringify writes it; a backslash before it is no escape's. */
const LONE_SURROGATE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/**
 * A value as the JSON text that is stored. Half characters, of models and tools that cut text
 * anywhere, become U+FFFD: Redis' JSON reader refuses them, and a session that has one could never
 * go on.
 */
export function toStoredJson(value: unknown): string {
  const json = JSON.stringify(value);
  return json.includes('\\ud') ? json.replace(LONE_SURROGATE, '$1\\ufffd') : json;
}
