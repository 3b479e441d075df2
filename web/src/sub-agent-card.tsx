import type { ReactElement } from 'react';
import { FieldList } from './field-list.js';
import { ReplyText } from './reply-text.js';
import { SubAgentReport } from './sub-agent-report.js';
import { toolCardState, type ToolPart } from './tool-state.js';

interface Props {
  part: ToolPart;
  tool: string;
  name: string;
}

const WORDS = {
  running: 'working…',
  waiting: 'waiting',
  done: 'done',
  failed: 'failed',
  denied: 'denied',
} as const;

/** A task of another agent: its input, what it does, and its result. */
export function SubAgentCard({ part, tool, name }: Props): ReactElement {
  const state = toolCardState(part);
  return (
    <div
      role="group"
      className={`tool sub-agent ${state}`}
      aria-label={`${name}, ${WORDS[state]}`}
      data-testid="tool-card"
      data-tool={tool}
      data-state={state}
    >
      <header>
        <span className="sub-agent-name">
          <span className="avatar" aria-hidden="true">
            {name.slice(0, 1).toUpperCase()}
          </span>
          {name}
        </span>
        <span className="tool-state">
          {state === 'running' && <span className="status-dot" aria-hidden="true" />}
          {WORDS[state]}
        </span>
      </header>
      {part.input !== undefined && (
        <details className="values" data-testid="sub-agent-input">
          <summary>What it was asked</summary>
          <FieldList value={part.input} />
        </details>
      )}
      <SubAgentReport callId={part.toolCallId} isWorking={state === 'running'} />
      {part.state === 'output-available' && (
        <div className="result" data-testid="sub-agent-result">
          {typeof part.output === 'string' ? (
            <ReplyText text={part.output} />
          ) : (
            <FieldList value={part.output} />
          )}
        </div>
      )}
      {part.state === 'output-error' && <p data-testid="tool-error">{part.errorText}</p>}
    </div>
  );
}
