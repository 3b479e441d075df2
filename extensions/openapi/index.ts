import { z } from 'zod';
import type { createDocument } from 'zod-openapi';
import { HTTP_STATUS, orMissing, type ErrorCode } from '../../protocol/errors.js';
import { HEADERS } from '../../protocol/ids.js';
import { ProblemBody } from '../../protocol/replies.js';
import {
  defineRoute,
  inJson,
  mayStream,
  type ProblemShape,
  type Reply,
  type Route,
} from '../../api/extension.js';
import type { Extension } from '../../extension.js';

/** Describes all routes, including those of extensions, at `/api/openapi.json`. */
export function openApi(): Extension {
  return { name: 'openapi', routes: [OPENAPI_ROUTE], openApi: createOpenApi };
}

const OPENAPI_ROUTE: Route = defineRoute({
  method: 'get',
  path: '/api/openapi.json',
  id: 'getOpenApi',
  audits: 'none',
  summary: 'Get this document',
  access: 'everyone',
  replies: inJson(200, 'An OpenAPI 3.1 document.', z.record(z.string(), z.unknown())),
  refusals: ['unavailable'],
  handle: async ({ deps, response }) => {
    response.type('application/json').send(await deps.readOpenApi());
  },
});

/** Creates the OpenAPI document of routes from the schemas that they parse. @throws MissingPackageError */
export async function createOpenApi(
  routes: readonly Route[],
  shapes: readonly ProblemShape[] = [],
): Promise<object> {
  const { createDocument } = await import('zod-openapi').catch(
    orMissing('The OpenAPI document', 'zod-openapi@5'),
  );
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'helix-temporal',
      version: '1',
      description:
        'Chats with agents that wait for people. Refusals are `{error, code, detail?}`; PROTOCOL.md explains each code.',
    },
    security: [{ bearer: [] }],
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    paths: toPaths(routes, shapes),
  });
}

export function refusalsOf(route: Route): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(toCodes(route))) {
    const status = HTTP_STATUS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
}

/** Lists codes in one order: guards, limits, access, the route's own, faults. */
function toCodes(route: Route): ErrorCode[] {
  const { access, body, upload, refusals = [] } = route;
  if (access === 'everyone') return [...refusals];
  return [
    'validation_error',
    'unauthorized',
    'too_many_requests',
    ...(mayStream(route) ? (['too_many_streams'] as const) : []),
    ...(body === undefined && upload === undefined
      ? []
      : (['body_too_large', 'unsupported_media_type'] as const)),
    ...(access === 'owner' ? (['not_found'] as const) : []),
    ...refusals,
    'unavailable',
    'corrupt_record',
    'internal_error',
  ];
}

type Paths = NonNullable<Parameters<typeof createDocument>[0]['paths']>;

function toPaths(routes: readonly Route[], shapes: readonly ProblemShape[]): Paths {
  const paths: Paths = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method]: toOperation(route, shapes) };
  }
  return paths;
}

function toOperation(route: Route, shapes: readonly ProblemShape[]): Paths[string]['get'] {
  const { id, summary, access, audits, params, query, headers = [], body, upload, payload } = route;
  const named = Object.fromEntries(
    headers.map((name) => [HEADERS[name], z.string().optional()] as const),
  );
  return {
    operationId: id,
    summary,
    'x-audit': audits,
    security: access === 'everyone' ? [] : undefined,
    // The library reads every key, even an undefined one.
    requestParams: {
      ...(params && { path: params }),
      ...(query && { query }),
      ...(headers.length > 0 && { header: z.object(named) }),
    },
    requestBody:
      (upload && UPLOAD) ??
      (payload && PAYLOAD) ??
      (body && {
        // A request may omit a body that may be empty.
        required: !body.safeParse({}).success,
        content: { 'application/json': { schema: body } },
      }),
    responses: { ...toReplies(route), ...toRefusals(route, shapes) },
  };
}

const BINARY = { type: 'string', format: 'binary' } as const;
/** The raw bytes, or the field `file` of a form. */
const UPLOAD = {
  required: true,
  content: {
    '*/*': { schema: BINARY },
    'multipart/form-data': {
      schema: { type: 'object' as const, properties: { file: BINARY }, required: ['file'] },
    },
  },
};

const PAYLOAD = { content: { 'application/json': { schema: z.unknown() } } };

function toReplies({ replies }: Route): Record<`2${string}`, object> {
  return Object.fromEntries(
    Object.entries(replies).map(([status, { description, content, headers }]) => [
      status,
      {
        description,
        content: content && toContent(content),
        headers: headers && toHeaders(headers),
      },
    ]),
  );
}

function toContent(content: NonNullable<Reply['content']>): object {
  if ('file' in content) {
    return { '*/*': { schema: { ...BINARY, description: content.file } } };
  }
  if ('text' in content) {
    return { 'text/plain': { schema: { type: 'string', description: content.text } } };
  }
  if ('lines' in content) {
    return { 'application/x-ndjson': { schema: { type: 'string', description: content.lines } } };
  }
  const { json, events } = { json: undefined, events: undefined, ...content };
  return {
    ...(json && { 'application/json': { schema: json } }),
    ...(events !== undefined && {
      'text/event-stream': { schema: { type: 'string', description: events } },
    }),
  };
}

function toHeaders(names: readonly (keyof typeof HEADERS)[]) {
  const schema = { type: 'string' } as const;
  return Object.fromEntries(names.map((name) => [HEADERS[name], { schema }]));
}

function toRefusals(route: Route, shapes: readonly ProblemShape[]): Record<`4${string}`, object> {
  const shape = shapes.find(({ below }) => route.path.startsWith(below));
  const toSchema = shape?.toSchema ?? ((code) => ProblemBody.extend({ code }));
  return Object.fromEntries(
    [...refusalsOf(route)].map(([status, codes]) => [
      status,
      {
        description: codes.join(', '),
        content: {
          'application/json': {
            schema: toSchema(z.enum(codes as [ErrorCode, ...ErrorCode[]])),
          },
        },
        ...((status === 429 || status === 503) && {
          headers: {
            'retry-after': { description: 'Seconds to wait.', schema: { type: 'integer' } },
          },
        }),
      },
    ]),
  );
}
