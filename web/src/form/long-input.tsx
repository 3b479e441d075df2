import { useLayoutEffect, useRef, type KeyboardEvent, type ReactElement } from 'react';
import type { OneLine } from './shape.js';

interface Props {
  id: string;
  /** Undefined: the text may have line breaks. */
  oneLine: OneLine | undefined;
  pattern: string | undefined;
  title: string | undefined;
  required: boolean;
  minLength: number | undefined;
  maxLength: number | undefined;
  value: string;
  disabled: boolean;
  onChange: (value: string) => void;
  'aria-describedby': string | undefined;
  'data-testid': string;
}

/**
 * A text on as many lines as it needs. One that is only too long for one line is otherwise as in a control
 * of one line: Enter sends the form, what is pasted brings no line breaks, and browsers check it.
 */
export function LongInput({ oneLine, pattern, value, onChange, ...common }: Props): ReactElement {
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    area.current?.setCustomValidity(oneLine === undefined ? '' : faultOf(value, oneLine, pattern));
  }, [value, oneLine, pattern]);
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    // Enter also ends the composition of a character in many scripts.
    if (oneLine === undefined || event.key !== 'Enter' || event.nativeEvent.isComposing) return;
    event.preventDefault();
    event.currentTarget.form?.requestSubmit();
  };
  return (
    <textarea
      {...common}
      ref={area}
      // For browsers in which it does not grow with its text.
      rows={Math.min(6, Math.max(1, Math.ceil(value.length / 30), value.split('\n').length))}
      value={value}
      onKeyDown={onKey}
      onChange={({ target }) => {
        onChange(oneLine === undefined ? target.value : toLine(target.value, oneLine));
      }}
    />
  );
}

/** As controls of one line do it. */
function toLine(text: string, oneLine: OneLine): string {
  const line = text.replace(/[\r\n]+/g, '');
  return oneLine === 'text' ? line : line.trim();
}

const FAULTS: Record<OneLine, string> = {
  text: 'This does not match what is asked for.',
  email: 'This is not an e-mail address.',
  url: 'This is not a URL.',
};

/** Asks a control of one line, since one of several has no such checks. Blank texts are left to `required`. */
function faultOf(text: string, oneLine: OneLine, pattern: string | undefined): string {
  const line = document.createElement('input');
  line.type = oneLine;
  if (pattern !== undefined) line.pattern = pattern;
  line.value = text;
  return line.checkValidity() ? '' : FAULTS[oneLine];
}
