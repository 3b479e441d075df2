import type { ReactElement } from 'react';
import type { ChangedInput } from './changed-input.js';
import { readable, type ToolPart } from './tool-state.js';

interface Props {
  part: ToolPart;
  changed: ChangedInput | undefined;
  /** Whether they are shown from the start. */
  open: boolean;
}

/** What a call was given, what people made of that, and what came of it. */
export function ToolValues({ part, changed, open }: Props): ReactElement {
  const { state, input, approval } = part;
  return (
    <details className="values" open={open}>
      <summary>Details</summary>
      {input !== undefined && <Value label="Input" value={input} />}
      {changed !== undefined && (
        <Value
          label={changed.by === undefined ? 'Changed' : `Changed by ${changed.by}`}
          value={changed.input}
        />
      )}
      {state === 'output-available' && <Value label="Output" value={part.output} />}
      {state === 'output-error' && <Value label="Error" value={part.errorText} />}
      {approval?.approved === false && approval.reason !== undefined && (
        <Value label="Reason" value={approval.reason} />
      )}
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
