import type { ReactElement } from 'react';
import { toLocalTime } from './is-shown-by.js';
import { JsonInput } from './json-input.js';
import { LongInput } from './long-input.js';
import { NumberInput } from './number-input.js';
import type { Shape } from './shape.js';

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

/** The control for one value. Browsers check it, in the reader's language, before the form is sent. */
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
          onChange={(event) => {
            onChange(event.target.checked);
          }}
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
        // A pattern of JSON Schema may match anywhere in a text.
        pattern: pattern === undefined ? undefined : `.*(?:${pattern}).*`,
        title: pattern === undefined ? undefined : `It has to match ${pattern}`,
      };
      const write = (next: string): void => {
        onChange(next === '' && !required ? undefined : next);
      };
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
