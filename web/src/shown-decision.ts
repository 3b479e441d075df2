import { ANONYMOUS } from '../../protocol/ids.js';
import { formatWhen } from './format-when.js';
import type { PageState } from './page-store.js';
import type { ToolPart } from './tool-state.js';

/** What became of a question to people, as far as it is known. */
export interface ShownDecision {
  approved: boolean;
  reason?: string | undefined;
  by?: string | undefined;
  /** ms since the epoch. */
  at?: number | undefined;
  /** The tool's own rule applied: no person decided, or none in time. */
  automatic?: boolean | undefined;
  /** What a person changed the call's input to. */
  changed?: { input: unknown } | undefined;
}

/** Who and when, beside the decision that the message has. Pure. */
export function decisionOf(
  part: ToolPart,
  { changed, decided }: Pick<PageState, 'changed' | 'decided'>,
): ShownDecision | undefined {
  const { approval, toolCallId } = part;
  if (approval?.approved === undefined) return undefined;
  const { approved, reason } = approval;
  return { ...decided[toolCallId], approved, reason, changed: changedInput() };

  /** As the record has it: an extension of the server. Before that is read, as it was changed on this page. */
  function changedInput(): ShownDecision['changed'] {
    if (approval !== undefined && 'input' in approval) return { input: approval.input };
    return toolCallId in changed ? { input: changed[toolCallId] } : undefined;
  }
}

/** One line for people: what was decided, by whom, when and why. Pure. */
export function describeDecision(
  { approved, by, at, automatic, reason, changed }: ShownDecision,
  now?: number,
): string {
  const what = approved ? 'Approved' : 'Denied';
  const who = automatic === true ? ' without a person' : isNamed(by) ? ` by ${by}` : '';
  const when = at === undefined ? '' : `, ${formatWhen(at, now)}`;
  const how = approved && changed !== undefined ? ', with changes' : '';
  const why = reason === undefined || reason === '' ? '.' : `: ${reason}`;
  return `${what}${who}${when}${how}${why}`;
}

/** Without accounts the record names no person. */
function isNamed(by: string | undefined): by is string {
  return by !== undefined && by !== '' && by !== ANONYMOUS;
}
