import type { DynamicToolUIPart, ToolUIPart } from 'ai';
import type { PendingQuestion } from '../../protocol/replies.js';

export type ToolPart = ToolUIPart | DynamicToolUIPart;
export type ToolCardState = 'running' | 'waiting' | 'done' | 'failed' | 'denied';

/** Returns the state of a tool call in words for a reader. */
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

/** Returns the open question about a call whose part does not show that it waits for a person. */
function questionOf(
  part: ToolPart,
  pending: readonly PendingQuestion[],
): PendingQuestion | undefined {
  if (part.state !== 'input-available') return undefined;
  return pending.find(({ toolCallId }) => toolCallId === part.toolCallId);
}

/** Returns true for client tools' calls, by the server's list; approved calls look the same otherwise. */
export function isPageCall(part: ToolPart, pending: readonly PendingQuestion[]): boolean {
  const question = questionOf(part, pending);
  return question?.kind === 'client' && question.mayDecide !== false;
}

/** Returns true if the call waits for a person other than the reader. */
export function waitsForColleague(part: ToolPart, pending: readonly PendingQuestion[]): boolean {
  return questionOf(part, pending)?.mayDecide === false;
}

/** Returns the question about a call that a colleague has edited, if the reader may decide it. */
export function findChanged(
  part: ToolPart,
  pending: readonly PendingQuestion[],
): PendingQuestion | undefined {
  const question = questionOf(part, pending);
  return question?.edited !== undefined && question.mayDecide !== false ? question : undefined;
}

/** Returns text as it is and other values as indented JSON. */
export function readable(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined ? '' : JSON.stringify(value, null, 2);
}
