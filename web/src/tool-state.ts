import type { DynamicToolUIPart, ToolUIPart } from 'ai';

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

/** Values as a person reads them: text as it is, everything else as indented JSON. */
export function readable(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined ? '' : JSON.stringify(value, null, 2);
}
