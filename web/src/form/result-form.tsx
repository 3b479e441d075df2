import { useState, type ReactElement } from 'react';
import { SchemaForm } from './schema-form.js';
import { startValue } from './start-value.js';
import { toShape } from './to-shape.js';

/** What the agent reads when a person declines to answer. */
export const DECLINED = 'The person at the page would not say.';

interface Props {
  title: string;
  /** JSON Schema of the result; undefined: text. */
  schema: unknown;
  disabled: boolean;
  onResult: (result: unknown) => void;
  onRefuse: () => void;
}

/** A person's answer in place of a program's: by the schema of the result, or as text. */
export function ResultForm({ title, schema, disabled, onResult, onRefuse }: Props): ReactElement {
  const [text, setText] = useState('');
  const [given, setGiven] = useState<{ value: unknown }>();
  const shape = schema === undefined ? undefined : toShape(schema, undefined);
  const value = given === undefined && shape !== undefined ? startValue(shape) : given?.value;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onResult(shape === undefined ? text : (value ?? null));
      }}
    >
      {shape !== undefined && (
        <SchemaForm
          shape={shape}
          value={value}
          disabled={disabled}
          onChange={(next) => {
            setGiven({ value: next });
          }}
        />
      )}
      <div className="approval-tools">
        {shape === undefined && (
          <input
            data-testid="client-result"
            aria-label={`Result of ${title}`}
            placeholder="Your answer"
            value={text}
            disabled={disabled}
            onChange={(event) => {
              setText(event.target.value);
            }}
          />
        )}
        <button type="submit" className="primary" data-testid="give-result" disabled={disabled}>
          Answer
        </button>
        <button type="button" data-testid="refuse-result" disabled={disabled} onClick={onRefuse}>
          Rather not
        </button>
      </div>
    </form>
  );
}
