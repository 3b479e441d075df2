import { isShownBy, type TextInput } from './is-shown-by.js';

/** The control for a value; `json` covers every value without a control of its own. */
export type Shape = Described &
  (
    | { kind: 'group'; fields: GroupField[] }
    | { kind: 'list'; item: Shape; min: number; max: number }
    | { kind: 'choice'; options: { value: unknown; label: string }[] }
    | { kind: 'switch' }
    | ({ kind: 'number' } & NumberLimits)
    | ({ kind: 'text'; input: TextInput; oneLine?: OneLine | undefined } & TextLimits)
    | { kind: 'json' }
  );

export interface GroupField {
  name: string;
  label: string;
  required: boolean;
  shape: Shape;
}

export interface NumberLimits {
  min?: number | undefined;
  max?: number | undefined;
  step: number | 'any';
  /** Unit of the number, such as `$` or `kg`. */
  unit?: string | undefined;
}

export interface TextLimits {
  minLength?: number | undefined;
  maxLength?: number | undefined;
  pattern?: string | undefined;
}

/**
 * Validation of a one-line text that is too long for a one-line control. It is shown on several lines but
 * gets no line breaks.
 */
export type OneLine = 'text' | 'email' | 'url';

interface Described {
  description?: string | undefined;
  /** Initial value of an empty field. */
  start?: unknown;
}

/** Returns true if the shape's control can show the value. */
export function fits({ kind, ...shape }: Shape, value: unknown): boolean {
  switch (kind) {
    case 'group':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'list':
      return Array.isArray(value) && value.length <= MOST_ITEMS;
    case 'choice':
      return 'options' in shape && shape.options.some((option) => option.value === value);
    case 'switch':
      return typeof value === 'boolean';
    case 'number':
      return typeof value === 'number';
    case 'text':
      return typeof value === 'string' && 'input' in shape && isShownBy(shape.input, value);
    case 'json':
      return true;
  }
}

/** A list with more items is not shown as controls. */
export const MOST_ITEMS = 50;

/** Returns true if the shape's controls show the whole value. */
export function isWhole(shape: Shape, value: unknown): boolean {
  if (!fits(shape, value)) return false;
  if (shape.kind === 'list') return (value as unknown[]).every((each) => isWhole(shape.item, each));
  if (shape.kind !== 'group') return true;
  return Object.entries(value as object).every(([name, each]: [string, unknown]) => {
    const field = shape.fields.find((one) => one.name === name);
    return field !== undefined && isWhole(field.shape, each);
  });
}

/** Returns a form's initial value: defaults, and empty values for required fields. Pure. */
export function startValue(shape: Shape, isRequired = true, isInList = false): unknown {
  if (shape.start !== undefined) return shape.start;
  if (!isRequired) return undefined;
  switch (shape.kind) {
    case 'group':
      return Object.fromEntries(
        shape.fields.flatMap(({ name, required, shape: inner }) => {
          const value = startValue(inner, required, isInList);
          return value === undefined ? [] : [[name, value]];
        }),
      );
    case 'list':
      // Nested lists start empty, because their total size could be huge.
      return Array.from({ length: isInList ? 0 : shape.min }, () =>
        startValue(shape.item, true, true),
      );
    case 'switch':
      return false;
    case 'text':
      // An empty text control yields an empty text.
      return shape.input === 'text' || shape.input === 'long' ? '' : undefined;
    default:
      return undefined;
  }
}
