import { type KeyboardEvent, type ReactElement, useLayoutEffect, useRef, useState } from 'react';
import { escapeHidden, toLocalTime, type NumberLimits, type OneLine, type Shape } from './shape.js';

interface Props {
  shape: Exclude<Shape, { kind: 'group' } | { kind: 'list' }>;
  id: string;
  name: string;
  describedBy: string | undefined;
  required: boolean;
  value: unknown;
  disabled: boolean;
  onChange: (value: unknown) => void;
}

/** Renders the control for one value. Browsers validate it in the reader's language before the form is sent. */
export function FormInput(props: Props): ReactElement {
  const { shape, id, name, describedBy, required, value, disabled, onChange } = props;
  const common = {
    id,
    disabled,
    'aria-describedby': describedBy,
    'data-testid': `input-${name}`,
  };
  switch (shape.kind) {
    case 'switch':
      return (
        <input
          {...common}
          type="checkbox"
          checked={value === true}
          onChange={(event) => onChange(event.target.checked)}
        />
      );
    case 'choice': {
      const chosen = shape.options.findIndex((option) => option.value === value);
      return (
        <select
          {...common}
          required={required}
          value={chosen === -1 ? '' : String(chosen)}
          onChange={(event) => {
            const { value: index } = event.target;
            onChange(index === '' ? undefined : shape.options[Number(index)]?.value);
          }}
        >
          {(chosen === -1 || !required) && <option value="">Choose…</option>}
          {shape.options.map(({ label }, index) => (
            <option key={index} value={String(index)}>
              {label}
            </option>
          ))}
        </select>
      );
    }
    case 'number':
      return (
        <NumberInput
          {...common}
          limits={shape}
          required={required}
          value={value}
          onChange={onChange}
        />
      );
    case 'text': {
      const { input, oneLine, minLength, maxLength, pattern } = shape;
      const text = typeof value === 'string' ? value : '';
      const mayBeBlank = input === 'text' || (input === 'long' && (oneLine ?? 'text') === 'text');
      const limits = {
        required: required && ((minLength ?? 0) > 0 || !mayBeBlank),
        minLength,
        maxLength,
        // JSON Schema patterns are not anchored; HTML patterns are.
        pattern: pattern === undefined ? undefined : `.*(?:${pattern}).*`,
        title: pattern === undefined ? undefined : `It has to match ${pattern}`,
      };
      const write = (next: string): void => onChange(next === '' && !required ? undefined : next);
      if (input === 'long') {
        return (
          <LongInput {...common} {...limits} oneLine={oneLine} value={text} onChange={write} />
        );
      }
      const isMoment = input === 'date-time';
      return (
        <input
          {...common}
          {...limits}
          type={isMoment ? 'datetime-local' : input}
          value={isMoment ? toLocalTime(text) : text}
          onChange={(event) => {
            const { value: next } = event.target;
            write(isMoment && next !== '' ? new Date(next).toISOString() : next);
          }}
        />
      );
    }
    case 'json':
      return <JsonInput {...common} required={required} value={value} onChange={onChange} />;
  }
}

interface Control<Value, Sent> {
  id: string;
  required: boolean;
  value: Value;
  disabled: boolean;
  onChange: (value: Sent) => void;
  'aria-describedby': string | undefined;
  'data-testid': string;
}

/** Edits any other value as JSON. Invalid JSON keeps the form from being sent. */
function JsonInput({ value, onChange, ...common }: Control<unknown, unknown>): ReactElement {
  const area = useRef<HTMLTextAreaElement>(null);
  const [typed, setTyped] = useState<{ text: string; stands: string }>();
  // Keeps the typed text unless the value changed from outside, such as when a list item moved here.
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

interface LongInputProps extends Control<string, string> {
  /** Undefined if the text may have line breaks. */
  oneLine: OneLine | undefined;
  pattern: string | undefined;
  title: string | undefined;
  minLength: number | undefined;
  maxLength: number | undefined;
}

/**
 * A growing text area. With `oneLine`, Enter sends the form, line breaks are dropped, and browsers validate
 * the text.
 */
function LongInput({ oneLine, pattern, value, onChange, ...common }: LongInputProps): ReactElement {
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
      // For browsers that cannot grow a text area to fit its text.
      rows={Math.min(6, Math.max(1, Math.ceil(value.length / 30), value.split('\n').length))}
      value={value}
      onKeyDown={onKey}
      onChange={({ target }) =>
        onChange(oneLine === undefined ? target.value : toLine(target.value, oneLine))
      }
    />
  );
}

/** Cleans up a text as one-line controls do. */
function toLine(text: string, oneLine: OneLine): string {
  const line = text.replace(/[\r\n]+/g, '');
  return oneLine === 'text' ? line : line.trim();
}

const FAULTS: Record<OneLine, string> = {
  text: 'This does not match what is asked for.',
  email: 'This is not an e-mail address.',
  url: 'This is not a URL.',
};

/** Validates with a detached one-line control, which text areas lack. Blank texts are left to `required`. */
function faultOf(text: string, oneLine: OneLine, pattern: string | undefined): string {
  const line = document.createElement('input');
  line.type = oneLine;
  if (pattern !== undefined) line.pattern = pattern;
  line.value = text;
  return line.checkValidity() ? '' : FAULTS[oneLine];
}

/** A number with its unit. Keeps the typed text: `1.50` is not rewritten to `1.5`. */
function NumberInput({
  limits,
  value,
  onChange,
  ...common
}: Control<unknown, number | undefined> & { limits: NumberLimits }): ReactElement {
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
