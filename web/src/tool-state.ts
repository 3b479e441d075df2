import type { DynamicToolUIPart, ToolUIPart } from 'ai';
import type { PendingQuestion } from '../../protocol/http.js';

export type ToolPart = ToolUIPart | DynamicToolUIPart;
export type ToolCardState = 'running' | 'waiting' | 'done' | 'failed' | 'denied';

/** How a tool call stands, in words for a reader. */
export function toolCardState(part: ToolPart): ToolCardState {
  switch (part.state) {
    case 'input-streaming':
    case 'input-available':
      return 'running';
    case 'approval-requested':
      return 'waiting';
    case 'approval-responded':
      return part.approval.approved ? 'running' : 'denied';
    case 'output-available':
      return part.preliminary === true ? 'running' : 'done';
    case 'output-error':
      return 'failed';
    case 'output-denied':
      return 'denied';
  }
}

/** True for calls that the page carries out, as the server has it: approved ones look the same. */
export function isPageCall(part: ToolPart, pending: readonly PendingQuestion[]): boolean {
  return (
    part.state === 'input-available' &&
    pending.some(
      ({ kind, toolCallId, mayDecide }) =>
        kind === 'client' && mayDecide !== false && toolCallId === part.toolCallId,
    )
  );
}

/** True for calls that wait for another person than the one at this page. */
export function waitsForColleague(part: ToolPart, pending: readonly PendingQuestion[]): boolean {
  return (
    part.state === 'input-available' &&
    pending.some(
      ({ toolCallId, mayDecide }) => mayDecide === false && toolCallId === part.toolCallId,
    )
  );
}

/** The question about a call whose input a colleague has changed, if the one at this page may decide it. */
export function findChanged(
  part: ToolPart,
  pending: readonly PendingQuestion[],
): PendingQuestion | undefined {
  if (part.state !== 'input-available') return undefined;
  return pending.find(
    ({ toolCallId, edited, mayDecide }) =>
      edited !== undefined && mayDecide !== false && toolCallId === part.toolCallId,
  );
}

/** Values as a person reads them: text as it is, everything else as indented JSON. */
export function readable(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined ? '' : JSON.stringify(value, null, 2);
}
