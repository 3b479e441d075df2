import type { CheckpointEntry } from './session-actions.js';

/** What a person knows a step by: what was written in it, else what was called. Pure. */
export function describeStep(
  { text, toolNames = [] }: Pick<CheckpointEntry, 'text' | 'toolNames'>,
  titleOf: (tool: string) => string,
): string {
  if (text !== undefined) return text;
  return toolNames.length === 0 ? 'No words' : `Used ${toolNames.map(titleOf).join(', ')}`;
}
