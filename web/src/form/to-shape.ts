import { toWords } from '../../../protocol/shown-call.js';
import { isObject, ownValue } from '../objects.js';
import {
  fits,
  hasHiddenCharacters,
  hasLineBreak,
  isWhole,
  MAX_ITEMS,
  type GroupField,
  type OneLine,
  type Shape,
  type TextInput,
} from './shape.js';

/** The form reads some JSON Schema keywords. The server checks the others in every answer. */
type Schema = Readonly<Record<string, unknown>>;

/** A third party may write the schema, so limits keep it from hanging the page. */
const MAX_DEPTH = 6;
const MAX_FIELDS = 60;
const MAX_SHAPES = 300;
/** Characters that a one-line control shows on the narrowest phone, a few groups deep. */
const LINE_CHARS = 18;

/**
 * Returns the form for a value: by the schema, or by the value itself where the schema does not match, so
 * that people see everything that they approve. Pure.
 */
export function toShape(schema: unknown, value: unknown): Shape {
  const place = { root: schema, depth: 0, left: { shapes: MAX_SHAPES } };
  return shapeOf(isObject(schema) ? schema : {}, value, place);
}

interface Place {
  root: unknown;
  depth: number;
  /** Budget of shapes: a short schema may refer to itself in many fields. */
  left: { shapes: number };
}

function shapeOf(source: Schema, value: unknown, place: Place): Shape {
  place.left.shapes -= 1;
  if (place.depth > MAX_DEPTH || place.left.shapes < 0) return { kind: 'json' };
  const schema = resolve(source, place.root);
  const { description, default: start } = schema;
  const known = bySchema(schema, value, place);
  const isKnown = known !== undefined && (value === undefined || fits(known, value));
  const shape = isKnown ? known : byValue(value, known, place);
  return {
    ...shape,
    ...(typeof description === 'string' && { description }),
    // A default that the form cannot show in full must not enter the answer.
    ...(start !== undefined && isWhole(shape, start) && { start }),
  };
}

function bySchema(schema: Schema, value: unknown, place: Place): Shape | undefined {
  if (place.depth > MAX_DEPTH) return undefined;
  const options = toOptions(schema);
  if (options !== undefined) return { kind: 'choice', options };
  const inner = onlyAlternative(schema);
  if (inner !== undefined) return bySchema(resolve(inner, place.root), value, deeper(place));
  switch (typeOf(schema)) {
    case 'object':
      return isObject(schema.properties) ? toGroup(schema, value, place) : undefined;
    case 'array':
      return isObject(schema.items) ? toList(schema, schema.items, value, place) : undefined;
    case 'boolean':
      return { kind: 'switch' };
    case 'number':
    case 'integer':
      return toNumber(schema);
    case 'string':
      return toText(schema, value);
    default:
      return undefined;
  }
}

/** Derives the shape from the value; keeps the limits of `known` if it has the same kind. */
function byValue(value: unknown, known: Shape | undefined, place: Place): Shape {
  if (typeof value === 'number') return { kind: 'number', step: 'any' };
  if (typeof value === 'boolean') return { kind: 'switch' };
  if (typeof value === 'string') {
    if (hasHiddenCharacters(value)) return { kind: 'json' };
    const limits = known?.kind === 'text' ? known : {};
    const input = isLong(value) ? 'long' : 'text';
    return { ...limits, kind: 'text', input, oneLine: toOneLine(input, value) };
  }
  if (Array.isArray(value) && value.length > 0 && value.length <= MAX_ITEMS) {
    const items = value.map((each: unknown) => shapeOf({}, each, deeper(place)));
    const item = items[Math.max(0, value.indexOf(widestText(value)))];
    const isPlain = item?.kind === 'text' || item?.kind === 'number';
    const isEven = items.every(({ kind }) => kind === item?.kind);
    if (item !== undefined && isPlain && isEven) return { kind: 'list', item, ...ANY };
  }
  if (isObject(value) && Object.keys(value).length > 0) return toGroup({}, value, place);
  return { kind: 'json' };
}

const ANY = { min: 0, max: MAX_ITEMS };

function toGroup(schema: Schema, value: unknown, place: Place): Shape {
  const { properties } = schema;
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const parts = [properties, value].filter(isObject);
  const names = [...new Set(parts.flatMap(Object.keys))];
  if (names.length > MAX_FIELDS) return { kind: 'json' };
  return {
    kind: 'group',
    fields: names.map((name): GroupField => {
      const field = ownValue(properties, name);
      const own: Schema = isObject(field) ? field : {};
      const { title } = resolve(own, place.root);
      return {
        name,
        label: typeof title === 'string' && title !== '' ? title : toWords(name),
        required: required.includes(name),
        shape: shapeOf(own, ownValue(value, name), deeper(place)),
      };
    }),
  };
}

function toList(schema: Schema, items: Schema, value: unknown, place: Place): Shape {
  const given: unknown[] = Array.isArray(value) ? value : [];
  // A draft shape outside of the budget; it says which fields the items have.
  const draft = shapeOf(items, undefined, deeper({ ...place, left: { ...place.left } }));
  const item = shapeOf(items, toWidest(draft, given), deeper(place));
  // The list must show every item in full; one item that does not fit turns it into JSON.
  if (item.kind === 'json' || !given.every((each) => isWhole(item, each))) return { kind: 'json' };
  const { minItems, maxItems } = schema;
  const min = typeof minItems === 'number' ? minItems : 0;
  if (min > MAX_ITEMS) return { kind: 'json' };
  return {
    kind: 'list',
    item,
    min,
    max: typeof maxItems === 'number' ? Math.min(maxItems, MAX_ITEMS) : MAX_ITEMS,
  };
}

function toNumber(schema: Schema): Shape {
  const { minimum, maximum, exclusiveMinimum, multipleOf, format } = schema;
  const unit = toUnit(format);
  const isInteger = typeOf(schema) === 'integer';
  const [low, high] = [minimum, maximum].map((limit) =>
    // JavaScript's safe-integer limits are not limits for people.
    typeof limit === 'number' && Math.abs(limit) < Number.MAX_SAFE_INTEGER ? limit : undefined,
  );
  const step = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : undefined;
  const above = typeof exclusiveMinimum === 'number' ? exclusiveMinimum : undefined;
  const smallest = step ?? (isInteger ? 1 : unit?.step);
  const min = low ?? (above !== undefined && smallest !== undefined ? above + smallest : above);
  return {
    kind: 'number',
    min,
    max: high,
    // Browsers count steps from the minimum, JSON Schema from zero.
    step:
      smallest !== undefined && !isMultiple(min ?? 0, smallest)
        ? 'any'
        : (step ?? (isInteger ? 1 : 'any')),
    unit: unit?.sign,
  };
}

function isMultiple(value: number, of: number): boolean {
  const times = value / of;
  return Math.abs(times - Math.round(times)) < 1e-9;
}

const INPUTS: Readonly<Record<string, TextInput>> = {
  email: 'email',
  uri: 'url',
  url: 'url',
  date: 'date',
  time: 'time',
  'date-time': 'date-time',
};

function toText(schema: Schema, value: unknown): Shape {
  const { format, minLength, maxLength, pattern } = schema;
  const special = typeof format === 'string' ? INPUTS[format] : undefined;
  const address = special === 'email' || special === 'url' ? special : undefined;
  const isLongText = (typeof maxLength === 'number' && maxLength > 200) || format === 'textarea';
  // One line would cut off a long address on a phone.
  const isCut = isLong(value) && address !== undefined;
  const isWide = isLong(value) || isLongText;
  const input = isCut ? 'long' : (special ?? (isWide ? 'long' : 'text'));
  const mayBreak = isLongText && address === undefined;
  return {
    kind: 'text',
    input,
    oneLine: mayBreak ? undefined : toOneLine(input, value, address),
    ...(typeof minLength === 'number' && { minLength }),
    ...(typeof maxLength === 'number' && { maxLength }),
    ...(special === undefined && { pattern: toQuickPattern(pattern, value) }),
  };
}

/** A text without line breaks stays free of them, whether a person types or pastes. */
function toOneLine(input: TextInput, value: unknown, check: OneLine = 'text'): OneLine | undefined {
  const isOne = input === 'long' && typeof value === 'string' && !hasLineBreak(value);
  return isOne ? check : undefined;
}

function toOptions({ enum: values, anyOf, oneOf, const: only }: Schema): Option[] | undefined {
  if (Array.isArray(values) && values.length > 0)
    return apart(values.map((value) => toOption({ const: value })));
  if (only !== undefined) return [toOption({ const: only })];
  const many = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : [];
  const isList =
    many.length > 1 && many.every((each) => isObject(each) && each.const !== undefined);
  return isList ? apart((many as Schema[]).map(toOption)) : undefined;
}

/** Adds the values to labels that occur twice, so that people can tell the options apart. */
function apart(options: Option[]): Option[] {
  const times = new Map<string, number>();
  for (const { label } of options) times.set(label, (times.get(label) ?? 0) + 1);
  return options.map(({ value, label }) =>
    times.get(label) === 1
      ? { value, label }
      : { value, label: `${label} (${JSON.stringify(value)})` },
  );
}

interface Option {
  value: unknown;
  label: string;
}

function toOption({ const: value, title }: Schema): Option {
  if (typeof title === 'string') return { value, label: title };
  return { value, label: typeof value === 'string' ? value : JSON.stringify(value) };
}

/** Returns the non-null alternative of a nullable value. */
function onlyAlternative({ anyOf, oneOf, allOf }: Schema): Schema | undefined {
  const many: unknown[] = [anyOf, oneOf, allOf].find((each) => Array.isArray(each)) ?? [];
  const rest = many.filter((each): each is Schema => isObject(each) && each.type !== 'null');
  return rest.length === 1 ? rest[0] : undefined;
}

function typeOf({ type }: Schema): unknown {
  if (!Array.isArray(type)) return type;
  const rest = type.filter((each) => each !== 'null');
  return rest.length === 1 ? rest[0] : undefined;
}

/** Resolves one reference to a definition in the same schema; further ones stay unresolved. */
function resolve(schema: Schema, root: unknown): Schema {
  if (typeof schema.$ref !== 'string' || !isObject(root)) return schema;
  const [, group, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(schema.$ref) ?? [];
  const found = ownValue(root[group ?? ''], name ?? '');
  return isObject(found) ? { ...found, ...schema, $ref: undefined } : {};
}

function deeper(place: Place): Place {
  return { ...place, depth: place.depth + 1 };
}

function isLong(value: unknown): boolean {
  return typeof value === 'string' && (value.length > LINE_CHARS || hasLineBreak(value));
}

/** Browsers check patterns only up to this length; the server checks longer texts. */
const LONG_CHARS = 100;

const MAX_ALTERNATIVES = 5;

/**
 * Returns the pattern if a browser can match it quickly on each keystroke; a third party's pattern could take
 * hours. Nested repetition and back-references are left to the server, which checks every answer. Pure.
 */
function toQuickPattern(pattern: unknown, value: unknown): string | undefined {
  if (typeof pattern !== 'string') return undefined;
  if (typeof value === 'string' && value.length > LONG_CHARS) return undefined;
  // Escapes and character classes contain no quantifiers.
  const plain = pattern.replace(/\\[^1-9k]/g, 'x').replace(/\[[^\]]*\]/g, 'x');
  const repeats = plain.replace(/\(\?/g, '(').match(/[*+?]|\{\d+,\d*\}/g)?.length ?? 0;
  const isSlow =
    /\\|\)[*+?{]/.test(plain) ||
    repeats > (plain.startsWith('^') ? 3 : 1) ||
    plain.split('|').length > MAX_ALTERNATIVES + 1;
  return isSlow ? undefined : pattern;
}

/** Unit of a number, from the `format` keyword: `currency:EUR`, `unit:kg` or `percent`. */
interface Unit {
  sign: string;
  /** Smallest amount of a currency. */
  step?: number;
}

function toUnit(format: unknown): Unit | undefined {
  if (typeof format !== 'string') return undefined;
  if (format === 'percent') return { sign: '%' };
  const [, kind, name = ''] = /^(currency|unit):(.{1,20})$/.exec(format) ?? [];
  if (kind === 'unit') return { sign: name };
  return kind === 'currency' ? toMoney(name) : undefined;
}

function toMoney(currency: string): Unit {
  try {
    const format = new Intl.NumberFormat(undefined, { style: 'currency', currency });
    const sign = format.formatToParts(0).find(({ type }) => type === 'currency')?.value;
    const { maximumFractionDigits: digits = 2 } = format.resolvedOptions();
    return { sign: sign ?? currency, step: 10 ** -digits };
  } catch {
    // The browser does not know this currency.
    return { sign: currency };
  }
}

/**
 * Returns a sample whose shape fits all items of a list: the texts that need the most room, in the fields of
 * the items' schema. Pure.
 */
function toWidest(shape: Shape, items: readonly unknown[]): unknown {
  if (shape.kind === 'text') return widestText(items);
  if (shape.kind !== 'group' || items.length === 0) return undefined;
  return Object.fromEntries(
    shape.fields.map(({ name, shape: inner }) => {
      return [
        name,
        toWidest(
          inner,
          items.map((item) => ownValue(item, name)),
        ),
      ];
    }),
  );
}

/** Returns the text that needs the largest control: one with line breaks, or else the longest. */
function widestText(values: readonly unknown[]): string | undefined {
  const texts = values.filter((each) => typeof each === 'string');
  return texts.find(hasLineBreak) ?? texts.sort((a, b) => b.length - a.length)[0];
}
