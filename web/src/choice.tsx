import type { ReactElement } from 'react';

interface Props<Value extends string> {
  label: string;
  className?: string;
  testId: string;
  value: Value;
  /** Values with their labels. */
  options: readonly (readonly [value: Value, text: string])[];
  onChoose: (value: Value) => void;
}

export function Choice<Value extends string>(props: Props<Value>): ReactElement {
  const { label, className, testId, value, options, onChoose } = props;
  return (
    <label className={className}>
      {label}
      <select
        data-testid={testId}
        value={value}
        onChange={(event) => onChoose(event.target.value as Value)}
      >
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
