import { ANONYMOUS } from '../../protocol/ids.js';
import { formatWhen } from './format-when.js';
import type { PageState } from './page-store.js';
import type { ToolPart } from './tool-state.js';

export interface ShownDecision {
  approved: boolean;
  reason?: string | undefined;
  by?: string | undefined;
  /** ms since the epoch. */
  at?: number | undefined;
  /** True if the tool's rule decided, because no person had to or none did in time. */
  automatic?: boolean | undefined;
  /** The call's input after a person edited it. */
  changed?: { input: unknown } | undefined;
}

/** Returns the decision on a call, with decider and time where they are known. Pure. */
export function decisionOf(
  part: ToolPart,
  { changed, decided }: Pick<PageState, 'changed' | 'decided'>,
): ShownDecision | undefined {
  const { approval, toolCallId } = part;
  if (approval?.approved === undefined) return undefined;
  const { approved, reason } = approval;
  // The server adds the recorded input to the part. Until that is read, this page's own edit counts.
  const own = toolCallId in changed ? { input: changed[toolCallId] } : undefined;
  const edit = 'input' in approval ? { input: approval.input } : own;
  return { ...decided[toolCallId], approved, reason, changed: edit };
}

/** Describes a decision in one line: the result, the decider, the time, the reason. Pure. */
export function describeDecision(
  { approved, by, at, automatic, reason, changed }: ShownDecision,
  now?: number,
): string {
  const what = approved ? 'Approved' : 'Denied';
  // A server without accounts knows people by one name.
  const isNamed = by !== undefined && by !== '' && by !== ANONYMOUS;
  const who = automatic === true ? ' without a person' : isNamed ? ` by ${by}` : '';
  const when = at === undefined ? '' : `, ${formatWhen(at, now)}`;
  const how = approved && changed !== undefined ? ', with changes' : '';
  const why = reason === undefined || reason === '' ? '.' : `: ${reason}`;
  return `${what}${who}${when}${how}${why}`;
}
