import { useState, type ReactElement } from 'react';
import type { NumberLimits } from './shape.js';

interface Props {
  id: string;
  limits: NumberLimits;
  required: boolean;
  value: unknown;
  disabled: boolean;
  onChange: (value: number | undefined) => void;
  'aria-describedby': string | undefined;
  'data-testid': string;
}

/** A number with its unit. What is typed stays as it is typed: `1.50` is not rewritten to `1.5`. */
export function NumberInput({ limits, value, onChange, ...common }: Props): ReactElement {
  const { unit, min, max, step } = limits;
  const [typed, setTyped] = useState<string>();
  const known = typeof value === 'number' ? String(value) : '';
  const isTyped = typed !== undefined && (typed === '' ? undefined : Number(typed)) === value;
  return (
    <span className="with-unit">
      {unit !== undefined && <span className="unit">{unit}</span>}
      <input
        {...common}
        type="number"
        inputMode="decimal"
        aria-label={undefined}
        min={min}
        max={max}
        step={step}
        value={isTyped ? typed : known}
        onChange={(event) => {
          const { value: text } = event.target;
          setTyped(text);
          onChange(text === '' ? undefined : Number(text));
        }}
      />
    </span>
  );
}
