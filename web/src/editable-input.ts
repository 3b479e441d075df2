/** A field of a call's input that a person may change before approving it. */
export interface EditableField {
  name: string;
  kind: 'number' | 'text' | 'switch';
  /** As the form shows it. */
  text: string;
}

/** The fields of an input that a form can show: numbers, texts and switches of its top level. */
export function editableFields(input: unknown): EditableField[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return [];
  return Object.entries(input).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value === 'number') return { name, kind: 'number' as const, text: String(value) };
    if (typeof value === 'string') return { name, kind: 'text' as const, text: value };
    if (typeof value === 'boolean') return { name, kind: 'switch' as const, text: String(value) };
    return [];
  });
}

/**
 * The input with the form's changes; undefined if nothing was changed. Text in a number field that is not a number
 * stays text, for the server to refuse.
 */
export function editedInput(
  input: unknown,
  texts: Readonly<Record<string, string>>,
): Record<string, unknown> | undefined {
  const changes = editableFields(input).flatMap(({ name, kind, text }) => {
    const changed = texts[name];
    if (changed === undefined || changed === text) return [];
    return [[name, toValue(kind, changed)] as const];
  });
  if (changes.length === 0) return undefined;
  return { ...(input as Record<string, unknown>), ...Object.fromEntries(changes) };
}

function toValue(kind: EditableField['kind'], text: string): unknown {
  if (kind === 'switch') return text === 'true';
  if (kind === 'text') return text;
  const value = Number(text);
  return text.trim() === '' || Number.isNaN(value) ? text : value;
}
