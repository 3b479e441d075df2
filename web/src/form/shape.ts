import { isShownBy, type TextInput } from './is-shown-by.js';

/** What a form shows for a value. `json` is the way out for all that it has no control for. */
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
  /** What the number counts, such as `$` or `kg`. */
  unit?: string | undefined;
}

export interface TextLimits {
  minLength?: number | undefined;
  maxLength?: number | undefined;
  pattern?: string | undefined;
}

/**
 * What a text of one line is checked as where it is too long for a control of one line: it is shown on
 * several, and gets no line breaks.
 */
export type OneLine = 'text' | 'email' | 'url';

interface Described {
  description?: string | undefined;
  /** The value of a field that has no value yet. */
  start?: unknown;
}

/** True for a value that the control of a shape can show; all others are shown as what they are. */
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

/** More would be a page of controls. */
export const MOST_ITEMS = 50;

/** True if the controls of a shape show all of a value. */
export function isWhole(shape: Shape, value: unknown): boolean {
  if (!fits(shape, value)) return false;
  if (shape.kind === 'list') return (value as unknown[]).every((each) => isWhole(shape.item, each));
  if (shape.kind !== 'group') return true;
  return Object.entries(value as object).every(([name, each]: [string, unknown]) => {
    const field = shape.fields.find((one) => one.name === name);
    return field !== undefined && isWhole(field.shape, each);
  });
}

/** What a form begins with where no value is given: defaults, and the empty values of what is required. Pure. */
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
      // Lists of lists could be of any length.
      return Array.from({ length: isInList ? 0 : shape.min }, () =>
        startValue(shape.item, true, true),
      );
    case 'switch':
      return false;
    case 'text':
      // A control that is left blank has a blank text.
      return shape.input === 'text' || shape.input === 'long' ? '' : undefined;
    default:
      return undefined;
  }
}
