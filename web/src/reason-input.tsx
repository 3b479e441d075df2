import type { ReactElement } from 'react';

interface Props {
  testId: string;
  /** What screen readers call it. */
  label: string;
  placeholder: string;
  value: string;
  disabled: boolean;
  onChange: (reason: string) => void;
}

/** Why a person decides as they do, in their own words: the agent reads it. */
export function ReasonInput(props: Props): ReactElement {
  const { testId, label, placeholder, value, disabled, onChange } = props;
  return (
    <input
      data-testid={testId}
      aria-label={`${label} (optional)`}
      placeholder={placeholder}
      value={value}
      disabled={disabled}
      onChange={(event) => {
        onChange(event.target.value);
      }}
    />
  );
}
