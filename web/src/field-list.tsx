import type { ReactElement } from 'react';
import { toWords } from '../../protocol/shown-call.js';
import { isObject } from './objects.js';
import type { ShownDecision } from './shown-decision.js';
import { readable, type ToolPart } from './tool-state.js';

/** Shows an object's fields by name, one level deep, and deeper values in words. */
export function FieldList({ value }: { value: unknown }): ReactElement {
  if (!isObject(value)) return <p>{inWords(value)}</p>;
  return (
    <dl className="fields">
      {Object.entries(value).map(([name, field]) => (
        <div key={name}>
          <dt>{toWords(name)}</dt>
          <dd>{inWords(field)}</dd>
        </div>
      ))}
    </dl>
  );
}

function inWords(value: unknown): string {
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) =>
      Array.isArray(item) ? inside(item) : inWords(item),
    );
    return items.length === 0 ? '–' : items.join('; ');
  }
  if (!isObject(value)) return readable(value);
  // Without their names, two accounts or two amounts look the same.
  const fields = Object.entries(value).map(([name, field]) => `${toWords(name)}: ${inside(field)}`);
  return fields.length === 0 ? '–' : fields.join(', ');
}

/** Brackets a value with fields, which would otherwise read as fields of the outer one. */
function inside(value: unknown): string {
  const hasParts = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  return hasParts ? `(${inWords(value)})` : inWords(value);
}

interface Props {
  part: ToolPart;
  decision: ShownDecision | undefined;
  /** True if the values start unfolded. */
  open: boolean;
}

/** Shows a call's input, people's changes to it, and the result. */
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
      <small>{label}</small>
      <pre data-testid={`tool-${label.toLowerCase().replace(/ .*/, '')}`} tabIndex={0}>
        {readable(value)}
      </pre>
    </div>
  );
}
