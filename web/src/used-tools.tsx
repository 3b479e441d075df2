import { getToolName } from 'ai';
import type { ReactElement } from 'react';
import { useToolNames } from './current-conversation.js';
import { ToolCard } from './tool-card.js';
import type { ToolPart } from './tool-state.js';

/** Names that a line shows before it counts the rest. */
const NAMED = 3;

/** Finished calls in one line; each of them is a card inside. */
export function UsedTools({ calls }: { calls: readonly ToolPart[] }): ReactElement {
  const { titleOf } = useToolNames();
  const names = [...new Set(calls.map((part) => part.title ?? titleOf(getToolName(part))))];
  const others = names.length - NAMED;
  return (
    <details className="used" data-testid="used-tools">
      <summary>
        {calls.length === 1 ? 'Used a tool' : `Used ${String(calls.length)} tools`}
        <span className="used-names">
          {names.slice(0, NAMED).join(', ')}
          {others > 0 && ` and ${String(others)} more`}
        </span>
      </summary>
      {calls.map((part) => (
        <ToolCard key={part.toolCallId} part={part} newest={false} />
      ))}
    </details>
  );
}
