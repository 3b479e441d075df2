import { useId, useState, type ReactElement } from 'react';
import { Boundary } from '../boundary.js';
import { FormInput } from './form-input.js';
import { isObject, ownValue } from '../objects.js';
import { escapeHidden, startValue, type Shape } from './shape.js';
import { toShape } from './to-shape.js';

interface FieldProps {
  shape: Shape;
  /** Path of the value, for tests and for the names of controls. */
  path: string;
  label: string;
  required: boolean;
  value: unknown;
  /** The value that the agent asked for, for marking changes; absent if there was none. */
  given?: { value: unknown } | undefined;
  disabled: boolean;
  /** Receives undefined if the value was removed. */
  onChange: (value: unknown) => void;
}

type PropsOf<Kind> = Omit<FieldProps, 'shape'> & { shape: Extract<Shape, { kind: Kind }> };

/** Shows a value field by field for editing. The surrounding form runs the browser's validation. */
export function SchemaForm({
  shape,
  ...props
}: Omit<FieldProps, 'path' | 'label' | 'required'>): ReactElement {
  const common = { path: '', label: 'Value', required: true, ...props };
  return (
    <div className="input-form">
      <Boundary fallback={<PlainInput value={props.value} />}>
        {shape.kind === 'group' ? (
          <GroupFields {...common} shape={shape} />
        ) : (
          <Field {...common} shape={shape} />
        )}
      </Boundary>
    </div>
  );
}

function Field(props: FieldProps): ReactElement {
  const { shape, label, path, required, value, given } = props;
  const id = useId();
  const isChanged = given !== undefined && JSON.stringify(value) !== JSON.stringify(given.value);
  const note = shape.description ? <small id={`${id}-note`}>{shape.description}</small> : undefined;
  const describedBy = note && `${id}-note`;
  if (shape.kind === 'group' || shape.kind === 'list') {
    return (
      <fieldset aria-describedby={describedBy}>
        <legend>{label}</legend>
        {note}
        {shape.kind === 'group' ? (
          <GroupFields {...props} shape={shape} />
        ) : (
          <ListItems {...props} shape={shape} />
        )}
      </fieldset>
    );
  }
  return (
    <div className={isChanged ? 'field changed' : 'field'}>
      <label htmlFor={id}>
        {label}
        {!required && <small> (optional)</small>}
      </label>
      <div className="control">
        <FormInput {...props} shape={shape} id={id} name={path} describedBy={describedBy} />
        {note}
      </div>
    </div>
  );
}

function GroupFields(props: PropsOf<'group'>): ReactElement {
  const { shape, path, value, given, disabled, onChange } = props;
  const fields = isObject(value) ? value : {};
  return (
    <>
      {shape.fields.map(({ name, label, required, shape: inner }) => (
        <Field
          key={name}
          shape={inner}
          path={path === '' ? name : `${path}.${name}`}
          label={label}
          required={required}
          value={ownValue(fields, name)}
          given={given && { value: ownValue(given.value, name) }}
          disabled={disabled}
          onChange={(next) => {
            const { [name]: _, ...others } = fields;
            // Fields keep their order, so that undoing an edit restores an equal input.
            const isNew = ownValue(fields, name) === undefined || next === undefined;
            const changed = isNew ? others : fields;
            onChange(next === undefined ? changed : { ...changed, [name]: next });
          }}
        />
      ))}
    </>
  );
}

function ListItems(props: PropsOf<'list'>): ReactElement {
  const { shape, path, label, value, disabled, onChange } = props;
  const items: unknown[] = Array.isArray(value) ? value : [];
  return (
    <>
      {items.map((item, index) => (
        // Items have no identity except their index.
        <div className="item" key={index}>
          <Field
            shape={shape.item}
            path={`${path}.${String(index)}`}
            label={`${label} ${String(index + 1)}`}
            required
            value={item}
            disabled={disabled}
            onChange={(next) =>
              onChange(items.map((each, at) => (at === index ? (next ?? null) : each)))
            }
          />
          <button
            type="button"
            className="plain"
            aria-label={`Remove ${label} ${String(index + 1)}`}
            disabled={disabled || items.length <= shape.min}
            onClick={() => onChange(items.filter((_, at) => at !== index))}
          >
            ✕
          </button>
        </div>
      ))}
      <button
        type="button"
        className="plain add"
        data-testid={`add-${path}`}
        disabled={disabled || items.length >= shape.max}
        onClick={() => {
          const empty = shape.item.kind === 'text' ? '' : null;
          onChange([...items, startValue(shape.item) ?? empty]);
        }}
      >
        Add
      </button>
    </>
  );
}

function PlainInput({ value }: { value: unknown }): ReactElement {
  const json = JSON.stringify(value, null, 2) as string | undefined;
  return <pre data-testid="plain-input">{escapeHidden(json ?? '')}</pre>;
}

export interface EditedInput {
  shape: Shape;
  value: unknown;
  /** The edited input; undefined if nothing has changed. */
  edited: Record<string, unknown> | undefined;
  onChange: (value: unknown) => void;
}

/** State of a call's input while a person edits it. */
export function useEditedInput(schema: unknown, input: unknown): EditedInput {
  const [changed, setChanged] = useState<{ value: unknown }>();
  const value = changed === undefined ? input : changed.value;
  const isChanged = JSON.stringify(value) !== JSON.stringify(input);
  return {
    // The shape follows the agent's input, so the form stays the same during edits.
    shape: toShape(schema, input),
    value,
    // The server refuses any input that is not an object, including a removed one.
    edited: isChanged ? ((value ?? null) as Record<string, unknown>) : undefined,
    onChange: (next) => setChanged({ value: next }),
  };
}
