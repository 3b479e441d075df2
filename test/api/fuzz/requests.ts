import fc from 'fast-check';
import { OPEN_API, ROUTES } from '../../support/all-routes.js';
import type { Route } from '../../../api/routes/route.js';

/** The parts of an OpenAPI schema that our document uses. */
interface JsonSchema {
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
const NASTY: readonly unknown[] = [
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

/** Values for properties that code restricts beyond the schema, by property or schema name. */
type Hints = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Generates values that fit a schema, a third of them with one place changed, perhaps badly. */
function valuesOf(schema: JsonSchema, root: object, hints: Hints): fc.Arbitrary<unknown> {
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

/** Copies the value with `other` at one of its places, numbered in traversal order. */
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

/** Generates small numbers of a range, or the minimum of a range of large ones (timestamps). */
function integersOf({ minimum = -10, maximum = 1_000 }: JsonSchema) {
  const min = Math.max(minimum, -1_000);
  return fc.integer({ min, max: Math.max(min, Math.min(maximum, 10_000)) });
}

const document = JSON.parse(JSON.stringify(OPEN_API)) as {
  paths: Record<string, Record<string, DocumentedOperation>>;
};
interface DocumentedOperation {
  parameters?: { in: string; name: string; schema: JsonSchema }[];
  requestBody?: { content: Record<string, { schema: JsonSchema }> };
}

/** Existing sessions: one waits for people, one rests, one was stopped. */
export const SESSIONS = ['f-waits', 'f-rests', 'f-stopped'];
const session = fc.constantFrom(...SESSIONS, 'f-new');
const callId = fc.constantFrom('c1', 'c2', 'c3');
const content = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.constant(
    JSON.stringify({ script: [{ calls: [{ tool: 'charge', id: 'c3', args: { amount: 1 } }] }] }),
  ),
);
const anything = fc.jsonValue({ maxDepth: 2 });

/** Parts of chat pages' messages, real and forged. */
const part = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('text'), text: content }) },
  fc.record({
    type: fc.constant('file'),
    url: fc.constantFrom('data:text/plain;base64,aGk=', 'data:,', 'file:///etc/passwd'),
    mediaType: fc.constant('text/plain'),
  }),
  fc.record({
    type: fc.constantFrom('tool-charge', 'dynamic-tool', 'tool-locate'),
    toolName: fc.constantFrom('charge', 'locate', 'echo'),
    toolCallId: callId,
    state: fc.constantFrom(
      'approval-responded',
      'output-available',
      'output-error',
      'input-available',
    ),
    input: anything,
    output: anything,
    errorText: fc.string(),
    approval: fc.record({ id: fc.string(), approved: fc.boolean(), reason: fc.string() }),
  }),
);

const message = (role: string, id: fc.Arbitrary<string>): fc.Arbitrary<unknown> =>
  fc.record({
    id,
    role: fc.constant(role),
    parts: fc.array(part, { minLength: 1, maxLength: 3 }),
    metadata: fc.dictionary(fc.string(), anything, { maxKeys: 2 }),
  });

const hints: Hints = {
  SessionId: session,
  agent: fc.constant('lab'),
  agentType: fc.constant('lab'),
  sessionId: session,
  toolCallId: callId,
  messageId: fc.constantFrom('u1', 'u2', 'msg-1'),
  parts: fc.array(part, { minLength: 1, maxLength: 3 }),
  text: content,
  content: content,
  trigger: fc.constantFrom('submit-message', 'regenerate-message'),
  message: fc.oneof(
    { weight: 1, arbitrary: content },
    {
      weight: 4,
      arbitrary: fc.record({ id: fc.uuid(), role: fc.constant('user'), content: content }),
    },
  ),
  messages: fc
    .tuple(
      fc.array(message('assistant', fc.constantFrom('msg-1', 'msg-2')), { maxLength: 2 }),
      fc.array(message('user', fc.uuid()), { maxLength: 2 }),
    )
    .map(([before, after]) => [...before, ...after]),
};

const nastyText = fc.constantFrom(
  ...NASTY.filter((value) => typeof value === 'string' || typeof value === 'number').map(String),
  'a\u0000b',
  'a\r\nb',
  'ü',
  '%',
);

/** A request that fits its route's description, or almost does. */
export interface FuzzRequest {
  route: Route;
  path: string;
  /** True if all path parameters have the described form. */
  isPathGood: boolean;
  query: [string, string][];
  headers: Record<string, string>;
  body: unknown;
}

export const requests = fc.oneof(...ROUTES.map(toRequests));

function toRequests(route: Route): fc.Arbitrary<FuzzRequest> {
  const path = route.path.replace(/:(\w+)/g, '{$1}');
  const { parameters = [], requestBody } = document.paths[path]?.[route.method] ?? {};
  const named = (
    place: string,
    values: (name: string) => fc.Arbitrary<unknown>,
  ): Record<string, fc.Arbitrary<string>> =>
    Object.fromEntries(
      parameters
        .filter((each) => each.in === place)
        .map(({ name }) => [name, values(name).map(String)]),
    );
  const inPath = fc.oneof(
    // Deletes spare the existing sessions: other requests must find them.
    { weight: 8, arbitrary: route.method === 'delete' ? fc.constant('f-new') : session },
    { weight: 1, arbitrary: nastyText },
  );
  const inPathAs: Record<string, fc.Arbitrary<string>> = {
    sessionId: inPath,
    toolCallId: fc.oneof({ weight: 8, arbitrary: callId }, { weight: 1, arbitrary: nastyText }),
  };
  const inQuery: Record<string, fc.Arbitrary<unknown>> = {
    sessionId: session,
    limit: fc.integer({ min: 1, max: 20 }),
    offset: fc.nat({ max: 9 }),
    agent: fc.constant('lab'),
    busy: fc.constantFrom('queue', 'steer', 'interrupt', 'reject'),
    fromSequence: fc.nat({ max: 9 }),
  };
  const inHeader = fc.oneof(fc.nat(), fc.constantFrom('v7', '-1', '1e9', 'x'.repeat(300), ' '));
  const schema = requestBody?.content['application/json']?.schema;
  return fc
    .record({
      inPath: fc.record(named('path', (name) => inPathAs[name] ?? nastyText)),
      inQuery: some(
        named('query', (name) =>
          fc.oneof(
            { weight: 6, arbitrary: inQuery[name] ?? nastyText },
            { weight: 1, arbitrary: nastyText },
          ),
        ),
      ),
      isTwice: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
      headers: some(named('header', () => inHeader)),
      body: schema === undefined ? fc.constant(undefined) : valuesOf(schema, document, hints),
    })
    .map(({ inPath: ids, inQuery: query, isTwice, headers, body }) => ({
      route,
      path: Object.entries(ids).reduce(
        (at, [name, value]) =>
          at.replace(`:${name}`, encodeURIComponent(Buffer.from(value).toString())),
        route.path,
      ),
      isPathGood: Object.values(ids).every((value) => /^[\w-]{1,128}$/.test(value)),
      query: Object.entries(query).flatMap(([name, value]): [string, string][] =>
        isTwice
          ? [
              [name, value],
              [name, value],
            ]
          : [[name, value]],
      ),
      headers,
      body: withIdOfPath(body, ids['sessionId']),
    }));
}

/** Sets the body's session to the path's, unless the generator changed it. */
function withIdOfPath(body: unknown, sessionId: string | undefined): unknown {
  const isNamed = typeof body === 'object' && body !== null && 'messages' in body && 'id' in body;
  const isMeant = isNamed && SESSIONS.includes(String(body.id)) && sessionId !== undefined;
  return isMeant ? { ...body, id: sessionId } : body;
}

/** Generates records that lack some of the keys. */
function some(values: Record<string, fc.Arbitrary<string>>): fc.Arbitrary<Record<string, string>> {
  return fc
    .tuple(fc.record(values), fc.infiniteStream(fc.boolean()))
    .map(([record, keeps]) =>
      Object.fromEntries(Object.entries(record).filter(() => keeps.next().value === true)),
    );
}
