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
  ...[
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
  ],
  ...[
    'constructor',
    'msg-1',
    'a'.repeat(300),
    '💥'.repeat(200),
    '-1',
    '1e999',
    'NaN',
    '%00',
    '{{7*7}}',
  ],
  ...[0, -1, 1.5, -0, 2 ** 31, 2 ** 53, 1e308, -1e308, Number.MIN_VALUE],
  ...[
    [],
    {},
    [[]],
    [null],
    { toString: 1 },
    { length: -1 },
    Array.from({ length: 2_000 }, () => 0),
  ],
  JSON.parse('{"__proto__":{"polluted":true}}'),
  JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`),
];

const nasty = fc.constantFrom(...NASTY);

/** Values that mostly fit a schema, and now and then do not at all. */
export function valuesOf(
  schema: JsonSchema,
  root: object,
  known: fc.Arbitrary<string>,
): fc.Arbitrary<unknown> {
  const fitting = fittingValues(schema, root, known);
  return fc.oneof({ weight: 12, arbitrary: fitting }, { weight: 1, arbitrary: nasty });
}

function fittingValues(
  schema: JsonSchema,
  root: object,
  known: fc.Arbitrary<string>,
): fc.Arbitrary<unknown> {
  const inner = (each: JsonSchema): fc.Arbitrary<unknown> => valuesOf(each, root, known);
  if (schema.$ref !== undefined) return fittingValues(resolve(schema.$ref, root), root, known);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return fc.oneof(...choices.map(inner));
  switch (schema.type) {
    case 'string':
      return fc.oneof(known, fc.string({ maxLength: Math.min(schema.maxLength ?? 20, 40) }));
    case 'integer':
    case 'number':
      return fc.integer({
        min: Math.max(schema.minimum ?? -10, -1_000),
        max: Math.min(schema.maximum ?? 1_000, 10_000),
      });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(inner(schema.items ?? {}), { maxLength: 4 });
    case 'object':
      return fc
        .record(
          Object.fromEntries(
            Object.entries(schema.properties ?? {}).map(([name, each]) => [name, inner(each)]),
          ),
          // What is required is left out now and then, too.
          { requiredKeys: [] },
        )
        .chain((value) => withRequired(value, schema, inner));
    default:
      return fc.oneof(fc.jsonValue({ maxDepth: 2 }), nasty);
  }
}

function withRequired(
  value: Record<string, unknown>,
  { properties = {}, required = [] }: JsonSchema,
  inner: (schema: JsonSchema) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  const missing = required.filter((name) => !(name in value));
  const rest = fc.record(
    Object.fromEntries(missing.map((name) => [name, inner(properties[name] ?? {})])),
  );
  const whole = rest.map((more) => ({ ...value, ...more }));
  return fc.oneof({ weight: 9, arbitrary: whole }, { weight: 1, arbitrary: fc.constant(value) });
}

function resolve(reference: string, root: object): JsonSchema {
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], root) as JsonSchema;
}
