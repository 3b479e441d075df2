import { useState, type ReactElement } from 'react';
import { SchemaForm } from './schema-form.js';
import { startValue } from './shape.js';
import { toShape } from './to-shape.js';

/** What the agent reads when a person declines to answer. */
export const DECLINED = 'The person at the page would not say.';

interface Props {
  title: string;
  /** JSON Schema of the result; undefined: text. */
  schema: unknown;
  /** A text such as `{"a":1}` or `3` is the value that it stands for. */
  readsJson?: boolean;
  disabled: boolean;
  onResult: (result: unknown) => void;
  onRefuse: () => void;
}

/** A person's answer in place of a program's: by the schema of the result, or as text. */
export function ResultForm(props: Props): ReactElement {
  const { title, schema, readsJson = false, disabled, onResult, onRefuse } = props;
  const [text, setText] = useState('');
  const [given, setGiven] = useState<{ value: unknown }>();
  const shape = schema === undefined ? undefined : toShape(schema, undefined);
  const value = given === undefined && shape !== undefined ? startValue(shape) : given?.value;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (shape !== undefined) onResult(value ?? null);
        else onResult(readsJson ? toValue(text) : text);
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
            placeholder={readsJson ? 'The result, as text or JSON' : 'Your answer'}
            value={text}
            disabled={disabled}
            required={readsJson}
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

/** Texts that are no JSON stay text. Pure. */
function toValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** A question that a tool asks while it is carried out has its schema in its input; other calls have that of their tool. */
export function schemaOfResult(schema: unknown, input: unknown): unknown {
  return schema ?? (isWait(input) ? input.schema : undefined);
}

/** What a call shows of its input: all of it, but for the form of the answer. Undefined: nothing. */
export function shownOfQuestion(input: unknown): unknown {
  const shown = isWait(input) ? input.data : input;
  const isEmpty = typeof shown === 'object' && shown !== null && Object.keys(shown).length === 0;
  return isEmpty || shown === null ? undefined : shown;
}

/** The input of such a question: whose call asks, what the answer looks like, and what people have to know. */
function isWait(input: unknown): input is { for: string; schema: unknown; data?: unknown } {
  return typeof input === 'object' && input !== null && 'for' in input && 'schema' in input;
}
