import type { DynamicToolUIPart, ToolUIPart } from 'ai';
import { Values } from './values.js';

export type CallPart = DynamicToolUIPart | ToolUIPart;

/** Shows a tool call in one line that opens to its values. */
export function ToolLine({ part, title }: { part: CallPart; title: string }) {
  return (
    <details className="tool">
      <summary>
        {title} <span className="soft">{toOutcome(part)}</span>
      </summary>
      <Values of={part.input} />
      {part.state === 'output-available' && <Values of={part.output} />}
      {part.state === 'output-error' && <p>{part.errorText}</p>}
    </details>
  );
}

function toOutcome(part: CallPart): string {
  if (part.state === 'output-available') return part.approval?.approved ? 'approved, done' : 'done';
  if (part.state === 'output-error') return 'failed';
  if (part.state !== 'output-denied') return '…';
  return part.approval.reason ? `denied: ${part.approval.reason}` : 'denied';
}
