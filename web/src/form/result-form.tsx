import { useState, type ReactElement } from 'react';
import { tryParseJson } from '../../../protocol/limits.js';
import { SchemaForm } from './schema-form.js';
import { startValue } from './shape.js';
import { toShape } from './to-shape.js';

/** The agent reads this when a person declines to answer. */
export const DECLINED = 'The person at the page would not say.';

interface Props {
  title: string;
  /** JSON Schema of the result; undefined means text. */
  schema: unknown;
  /** True if a text such as `{"a":1}` or `3` is parsed as JSON. */
  readsJson?: boolean;
  disabled: boolean;
  onResult: (result: unknown) => void;
  onRefuse: () => void;
}

/** Lets a person give a tool's result: by its schema, or as text. */
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
        else onResult(readsJson ? tryParseJson(text, text) : text);
      }}
    >
      {shape !== undefined && (
        <SchemaForm
          shape={shape}
          value={value}
          disabled={disabled}
          onChange={(next) => setGiven({ value: next })}
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
            onChange={(event) => setText(event.target.value)}
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

/** Returns the schema of a call's result. A tool that waits for an answer has the schema in its input. */
export function schemaOfResult(schema: unknown, input: unknown): unknown {
  return schema ?? (isWait(input) ? input.schema : undefined);
}

/** Returns the part of the input to show: all of it except the answer's schema. Undefined means nothing. */
export function shownOfQuestion(input: unknown): unknown {
  const shown = isWait(input) ? input.data : input;
  const isEmpty = typeof shown === 'object' && shown !== null && Object.keys(shown).length === 0;
  return isEmpty || shown === null ? undefined : shown;
}

/** Returns true for the input of a waiting tool: the call that asks, the answer's schema, and data to show. */
function isWait(input: unknown): input is { for: string; schema: unknown; data?: unknown } {
  return typeof input === 'object' && input !== null && 'for' in input && 'schema' in input;
}
