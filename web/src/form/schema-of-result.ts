/** A question that a tool asks while it is carried out has its schema in its input; other calls have that of their tool. */
export function schemaOfResult(schema: unknown, input: unknown): unknown {
  return schema ?? (isWait(input) ? input.schema : undefined);
}

/** What a call shows of its input: all of it, but for the form of the answer. Undefined: nothing. */
export function shownOfQuestion(input: unknown): unknown {
  const shown = isWait(input) ? input.data : input;
  const isEmpty = typeof shown === 'object' && shown !== null && Object.keys(shown).length === 0;
  return isEmpty || shown === null ? undefined : shown;
}

/** The input of such a question: whose call asks, what the answer looks like, and what people have to know. */
function isWait(input: unknown): input is { for: string; schema: unknown; data?: unknown } {
  return typeof input === 'object' && input !== null && 'for' in input && 'schema' in input;
}
