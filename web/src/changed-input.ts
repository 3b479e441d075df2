import type { ToolPart } from './tool-state.js';

/** What a person changed a call's input to, and who did, as far as the record says. */
export interface ChangedInput {
  input: unknown;
  by?: string;
}

/** From the record, which names who it was; before that is read, from what was changed on this page. */
export function changedInputOf(
  part: ToolPart,
  changedHere: Readonly<Record<string, unknown>>,
): ChangedInput | undefined {
  const { approval } = part;
  if (approval !== undefined && 'input' in approval) {
    // An extension of the server, beside what the client's types know.
    const by = 'by' in approval && typeof approval.by === 'string' ? { by: approval.by } : {};
    return { input: approval.input, ...by };
  }
  return part.toolCallId in changedHere ? { input: changedHere[part.toolCallId] } : undefined;
}
