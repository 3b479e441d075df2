/** How deep into a stack is logged. */
const FRAMES = 10;

export interface ErrorTrace {
  /** Its class, or the type of what was thrown. */
  name: string;
  /** Where it was thrown, innermost first. */
  at: string[];
}

/** What may be logged of a tool's error. Its text may hold what people wrote; the record keeps that. Pure. */
export function toErrorTrace(error: unknown): ErrorTrace {
  if (!(error instanceof Error)) return { name: typeof error, at: [] };
  const { name, message, stack = '' } = error;
  const text = stack.indexOf(message);
  const frames = stack.slice(text < 0 ? 0 : text + message.length).split('\n');
  const at = frames.map((frame) => frame.trim()).filter((frame) => frame.startsWith('at '));
  return { name, at: at.slice(0, FRAMES) };
}
