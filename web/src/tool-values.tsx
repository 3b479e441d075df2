import type { ReactElement } from 'react';
import type { ShownDecision } from './shown-decision.js';
import { readable, type ToolPart } from './tool-state.js';

interface Props {
  part: ToolPart;
  decision: ShownDecision | undefined;
  /** Whether they are shown from the start. */
  open: boolean;
}

/** What a call was given, what people made of that, and what came of it. */
export function ToolValues({ part, decision, open }: Props): ReactElement {
  const { state, input } = part;
  return (
    <details className="values" open={open}>
      <summary>Details</summary>
      {input !== undefined && <Value label="Input" value={input} />}
      {decision?.changed !== undefined && <Value label="Changed" value={decision.changed.input} />}
      {state === 'output-available' && <Value label="Output" value={part.output} />}
      {state === 'output-error' && <Value label="Error" value={part.errorText} />}
    </details>
  );
}

export function Value({ label, value }: { label: string; value: unknown }): ReactElement {
  return (
    <div className="value">
      <span>{label}</span>
      <pre data-testid={`tool-${label.toLowerCase().replace(/ .*/, '')}`}>{readable(value)}</pre>
    </div>
  );
}
