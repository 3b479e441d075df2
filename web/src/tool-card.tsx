import { getToolName } from 'ai';
import type { ReactElement } from 'react';
import { ApprovalCard, type OnAnswer } from './approval-card.js';
import { readable, toolCardState, type ToolCardState, type ToolPart } from './tool-state.js';

const WORDS: Record<ToolCardState, string> = {
  running: 'running',
  waiting: 'waiting for approval',
  done: 'done',
  failed: 'failed',
  denied: 'denied',
};

interface Props {
  part: ToolPart;
  newest: boolean;
  onAnswer: OnAnswer;
}

export function ToolCard({ part, newest, onAnswer }: Props): ReactElement {
  const name = getToolName(part);
  const state = toolCardState(part);
  return (
    <section
      className={`tool ${state}`}
      aria-label={`Tool ${name}, ${WORDS[state]}`}
      data-testid="tool-card"
      data-tool={name}
      data-state={state}
    >
      <header>
        <span className="tool-name">{name}</span>
        <span className="tool-state">{WORDS[state]}</span>
      </header>
      {part.input !== undefined && <Value label="Input" value={part.input} />}
      {part.state === 'approval-requested' && (
        <ApprovalCard
          key={part.approval.id}
          approvalId={part.approval.id}
          tool={name}
          open={newest}
          onAnswer={onAnswer}
        />
      )}
      {part.state === 'output-available' && <Value label="Output" value={part.output} />}
      {part.state === 'output-error' && <Value label="Error" value={part.errorText} />}
      {state === 'denied' && part.approval?.reason !== undefined && (
        <Value label="Reason" value={part.approval.reason} />
      )}
    </section>
  );
}

function Value({ label, value }: { label: string; value: unknown }): ReactElement {
  return (
    <div className="value">
      <span>{label}</span>
      <pre data-testid={`tool-${label.toLowerCase()}`}>{readable(value)}</pre>
    </div>
  );
}
