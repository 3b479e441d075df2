import fc from 'fast-check';

/** A schema of an OpenAPI document, as far as ours use it. */
export interface JsonSchema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
}

/** Values that programs do not expect. */
export const NASTY: readonly unknown[] = [
  null,
  true,
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\udfff tail',
  'a\r\nx-evil: 1',
  '../..',
  '__proto__',
  'constructor',
  'msg-1',
  'a'.repeat(300),
  '💥'.repeat(200),
  '-1',
  '1e999',
  'NaN',
  '%00',
  '{{7*7}}',
  0,
  -1,
  1.5,
  -0,
  2 ** 31,
  2 ** 53,
  1e308,
  -1e308,
  Number.MIN_VALUE,
  [],
  {},
  [[]],
  [null],
  { toString: 1 },
  { length: -1 },
  Array.from({ length: 2_000 }, () => 0),
  JSON.parse('{"__proto__":{"polluted":true}}'),
  JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`),
];

const nasty = fc.constantFrom(...NASTY);

/** Values for properties of which the schema says less than programs expect, by their names or those of their schemas. */
export type Hints = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Values that fit a schema; one in three is then changed in one place to something that may not. */
export function valuesOf(schema: JsonSchema, root: object, hints: Hints): fc.Arbitrary<unknown> {
  const fitting = fittingValues(schema, root, hints);
  const changed = fc
    .tuple(fitting, fc.nat(), nasty)
    .map(([value, place, other]) => changeAt(value, place, other));
  return fc.oneof({ weight: 2, arbitrary: fitting }, { weight: 1, arbitrary: changed });
}

function fittingValues(
  schema: JsonSchema,
  root: object,
  hints: Hints,
  name = '',
): fc.Arbitrary<unknown> {
  const hint = Object.hasOwn(hints, name) ? hints[name] : undefined;
  if (hint !== undefined && schema.enum === undefined) return hint;
  const inner = (each: JsonSchema, of = ''): fc.Arbitrary<unknown> =>
    fittingValues(each, root, hints, of);
  if (schema.$ref !== undefined) {
    return inner(resolve(schema.$ref, root), schema.$ref.split('/').at(-1));
  }
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return fc.oneof(...choices.map((each) => inner(each)));
  switch (schema.type) {
    case 'string':
      return fc.string({ minLength: schema.minLength ?? 0, maxLength: 40 });
    case 'integer':
    case 'number':
      return integersOf(schema);
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(inner(schema.items ?? {}), { minLength: 1, maxLength: 3 });
    case 'object': {
      const values = Object.entries(schema.properties ?? {}).map(
        ([key, each]) => [key, inner(each, key)] as const,
      );
      return fc.record(Object.fromEntries(values), { requiredKeys: schema.required ?? [] });
    }
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

/** The value with one of its places, counted through, put to another value. */
function changeAt(value: unknown, place: number, other: unknown): unknown {
  const copy = { whole: structuredClone(value) };
  const places: [object, string][] = [];
  const walk = (holder: object): void => {
    for (const [key, inner] of Object.entries(holder)) {
      places.push([holder, key]);
      if (typeof inner === 'object' && inner !== null) walk(inner as object);
    }
  };
  walk(copy);
  const [holder, key] = places[place % places.length] ?? [copy, 'whole'];
  (holder as Record<string, unknown>)[key] = other;
  return copy.whole;
}

function resolve(reference: string, root: object): JsonSchema {
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], root) as JsonSchema;
}

/** Small numbers of a range, or the smallest of one that has large ones only, such as moments. */
function integersOf({ minimum = -10, maximum = 1_000 }: JsonSchema) {
  const min = Math.max(minimum, -1_000);
  return fc.integer({ min, max: Math.max(min, Math.min(maximum, 10_000)) });
}
