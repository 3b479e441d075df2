/** What a form shows for a value. `json` is the way out for all that it has no control for. */
export type Shape = Described &
  (
    | { kind: 'group'; fields: GroupField[] }
    | { kind: 'list'; item: Shape; min: number; max: number }
    | { kind: 'choice'; options: { value: unknown; label: string }[] }
    | { kind: 'switch' }
    | ({ kind: 'number' } & NumberLimits)
    | ({ kind: 'text'; input: TextInput } & TextLimits)
    | { kind: 'json' }
  );

export interface GroupField {
  name: string;
  label: string;
  required: boolean;
  shape: Shape;
}

export type TextInput = 'text' | 'long' | 'email' | 'url' | 'date' | 'time' | 'date-time';

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
      return typeof value === 'string' && isShown(shape as { input: TextInput }, value);
    case 'json':
      return true;
  }
}

/** More would be a page of controls. */
export const MOST_ITEMS = 50;

/** Controls for dates drop what is no date. */
function isShown({ input }: { input: TextInput }, value: string): boolean {
  switch (input) {
    case 'date':
      return /^\d{4}-\d\d-\d\d$/.test(value);
    case 'time':
      return /^\d\d:\d\d(:\d\d)?$/.test(value);
    case 'date-time':
      return !Number.isNaN(Date.parse(value));
    case 'text':
      return !value.includes('\n');
    default:
      return true;
  }
}
