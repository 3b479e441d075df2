import { useState, type ReactElement } from 'react';

interface Props {
  id: string;
  required: boolean;
  value: unknown;
  disabled: boolean;
  onChange: (value: unknown) => void;
  'aria-describedby': string | undefined;
  'data-testid': string;
}

/** A value that has no control of its own, as JSON. While the text is not JSON, the form is not sent. */
export function JsonInput({ value, onChange, ...common }: Props): ReactElement {
  const [text, setText] = useState(() => toText(value));
  return (
    <textarea
      {...common}
      className="json"
      spellCheck={false}
      rows={Math.min(10, text.split('\n').length + 1)}
      value={text}
      onChange={(event) => {
        const { target } = event;
        setText(target.value);
        const parsed = parse(target.value);
        target.setCustomValidity('fault' in parsed ? `This is not JSON: ${parsed.fault}` : '');
        if ('value' in parsed) onChange(parsed.value);
      }}
    />
  );
}

function parse(text: string): { value: unknown } | { fault: string } {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

function toText(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2);
}
