import { toInvalidScript } from './provider-failure.js';
import { ScriptEntry } from './script-entry.js';

/** The script in a user's message: its entries unchecked; undefined if the text is none. */
export function parseScript(text: string): readonly unknown[] | undefined {
  // Most texts are prose: they are not worth an exception.
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const value = JSON.parse(text) as { script?: unknown };
    return Array.isArray(value.script) ? value.script : undefined;
  } catch {
    // Not JSON, so it is prose that begins with a brace.
    return undefined;
  }
}

/**
 * Entry `index` of a script as the given attempt performs it.
 *
 * @throws APICallError with status 400, not retryable, that says what is wrong with the entry
 */
export function parseScriptEntry(
  script: readonly unknown[],
  index: number,
  attempt: number,
): ScriptEntry {
  const parsed = ScriptEntry.safeParse(script[index]);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(
      ({ path, message }) => `script[${String(index)}]${path.map(formatKey).join('')}: ${message}`,
    );
    throw toInvalidScript(faults.join('; '));
  }
  const { attempts = [], ...entry } = parsed.data;
  return { ...entry, ...attempts[Math.min(attempt, attempts.length) - 1] };
}

function formatKey(key: PropertyKey): string {
  return typeof key === 'number' ? `[${String(key)}]` : `.${String(key)}`;
}
