import { isObject } from '../objects.js';

/** Kinds of text control. */
export type TextInput = 'text' | 'long' | 'email' | 'url' | 'date' | 'time' | 'date-time';

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
      return isObject(value);
    case 'list':
      return Array.isArray(value) && value.length <= MAX_ITEMS;
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
export const MAX_ITEMS = 50;

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

const DATE = /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d(?::00)?$/;
/** An RFC 3339 time with its offset. */
const MOMENT = /^(.{10})T(?:[01]\d|2[0-3]):[0-5]\d:00(?:\.0+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Returns true if a control shows the whole text unchanged. Browsers hide an invalid date, cut seconds that a
 * control cannot hold, and drop line breaks; people would approve text that is not on screen. Pure.
 */
function isShownBy(input: TextInput, text: string): boolean {
  if (hasHiddenCharacters(text)) return false;
  switch (input) {
    case 'date':
      return isDate(text);
    case 'time':
      return TIME.test(text);
    case 'date-time': {
      const [, date = ''] = MOMENT.exec(text) ?? [];
      return isDate(date) && Date.parse(toLocalTime(text)) === Date.parse(text);
    }
    case 'email':
    case 'url':
      return text === text.trim() && !hasLineBreak(text);
    case 'text':
      return !hasLineBreak(text);
    case 'long':
      return true;
  }
}

/** Converts a time to the value of a `datetime-local` control: the reader's time zone, to the minute. */
export function toLocalTime(text: string): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return '';
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

export function hasLineBreak(text: string): boolean {
  return /[\n\r]/.test(text);
}

/** Control characters, invisible ones, and those that change the text direction. */
const HIDDEN = /(?![\t\n\r])[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/** Returns true if a control cannot show every character; JSON can escape them. */
export function hasHiddenCharacters(text: string): boolean {
  return text.search(HIDDEN) !== -1;
}

/** Escapes hidden characters in JSON. */
export function escapeHidden(json: string): string {
  return json.replace(
    HIDDEN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function isDate(text: string): boolean {
  if (!DATE.test(text)) return false;
  const at = new Date(`${text}T00:00:00Z`);
  // `Date` would turn the 30th of February into a day in March.
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}
