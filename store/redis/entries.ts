/**
 * Entries of a log. An entry has the fields `w`, its writer, and `c`, its message as JSON. A delta has
 * a single field: its name is the writer, which Redis mostly stores once for many entries, and its value
 * the short form.
 *
 * The short form is the JSON of `[text, agentType, step, timestamp, of, part]`: `of` is the id of the
 * call for an argument's delta, `isComplete` for thinking and null for text; `part` is the rest of the
 * agent's id after the conversation's. What would end the list as null or '' is left out. Each entry
 * is complete: none refers to another one, which might have been removed.
 */
const BRACKET = 91;

export function isShort(json: string): boolean {
  return json.charCodeAt(0) === BRACKET;
}

export function writerOf(fields: readonly string[]): string {
  return (fields.length === 2 ? fields[0] : fields[1]) ?? '';
}

/** The message of an entry as JSON, or the short form of a delta. */
export function jsonOf(fields: readonly string[]): string {
  return (fields.length === 2 ? fields[1] : fields[3]) ?? '';
}
