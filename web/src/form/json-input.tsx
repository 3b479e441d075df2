import { useLayoutEffect, useRef, useState, type ReactElement } from 'react';
import { escapeHidden } from './is-shown-by.js';

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
  const area = useRef<HTMLTextAreaElement>(null);
  const [typed, setTyped] = useState<{ text: string; stands: string }>();
  // What is typed stays as it is typed, unless the value became another: of an item that took this place.
  const text = typed?.stands === toText(value) ? typed.text : toText(value);
  const parsed = parse(text, common.required);
  const fault = 'fault' in parsed ? `This is not JSON: ${parsed.fault}` : '';
  useLayoutEffect(() => {
    area.current?.setCustomValidity(fault);
  }, [fault]);
  return (
    <textarea
      {...common}
      ref={area}
      className="json"
      spellCheck={false}
      rows={Math.min(10, text.split('\n').length + 1)}
      value={text}
      onChange={(event) => {
        const next = event.target.value;
        const read = parse(next, common.required);
        const stands = 'value' in read ? read.value : value;
        setTyped({ text: next, stands: toText(stands) });
        if ('value' in read) onChange(read.value);
      }}
    />
  );
}

function parse(text: string, isRequired: boolean): { value: unknown } | { fault: string } {
  if (text.trim() === '') return isRequired ? { fault: 'it is blank' } : { value: undefined };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

function toText(value: unknown): string {
  return value === undefined ? '' : escapeHidden(JSON.stringify(value, null, 2));
}
