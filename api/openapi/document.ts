import { z } from 'zod';
import { createDocument, type oas31 } from 'zod-openapi';
import { HTTP_STATUS, type ErrorCode } from '../../protocol/errors.js';
import { HEADERS } from '../../protocol/http.js';
import { ProblemBody } from '../../protocol/replies.js';
import { STREAM_ROUTES } from '../middleware/limits.js';
import { AGENT_OPERATIONS } from './agent-operations.js';
import { CHAT_OPERATIONS } from './chat-operations.js';
import type { Operation, Reply } from './operation.js';
import { SERVICE_OPERATIONS } from './service-operations.js';
import { SESSION_OPERATIONS } from './session-operations.js';

/** Every route there is. */
export const OPERATIONS: readonly Operation[] = [
  ...CHAT_OPERATIONS,
  ...SESSION_OPERATIONS,
  ...AGENT_OPERATIONS,
  ...SERVICE_OPERATIONS,
];

/** Routes that anybody may ask. */
const OPEN = new Set(['/api/openapi.json', '/healthz', '/readyz', '/metrics']);

let document: oas31.OpenAPIObject | undefined;

/** The OpenAPI document of the API, made of the shapes that its routes parse; the same for every app. */
export function readOpenApi(): oas31.OpenAPIObject {
  document ??= createDocument({
    openapi: '3.1.0',
    info: {
      title: 'helix-temporal',
      version: '1',
      description:
        'Chats with agents that wait for people. Refusals are `{error, code, detail?}`; PROTOCOL.md says what each code means.',
    },
    security: [{ bearer: [] }],
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    paths: toPaths(),
  });
  return document;
}

/** The codes with which a route may refuse, by status. */
export function refusalsOf(operation: Operation): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(toCodes(operation))) {
    const status = HTTP_STATUS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
}

function toCodes({ method, path, body, refusals = [] }: Operation): ErrorCode[] {
  if (OPEN.has(path)) return [];
  const mayStream = method === 'get' || method === 'post' ? STREAM_ROUTES[method] : [];
  return [
    'validation_error',
    'unauthorized',
    ...(method === 'get' ? [] : (['too_many_requests'] as const)),
    ...(mayStream.includes(path) ? (['too_many_streams'] as const) : []),
    ...(body === undefined ? [] : (['body_too_large', 'unsupported_media_type'] as const)),
    ...refusals,
    'unavailable',
    'corrupt_record',
    'internal_error',
  ];
}

type Paths = NonNullable<Parameters<typeof createDocument>[0]['paths']>;

function toPaths(): Paths {
  const paths: Paths = {};
  for (const operation of OPERATIONS) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [operation.method]: toOperation(operation) };
  }
  return paths;
}

function toOperation(operation: Operation): Paths[string]['get'] {
  const { id, path, summary, params, query, headers = [], body } = operation;
  const named = Object.fromEntries(
    headers.map((name) => [HEADERS[name], z.string().optional()] as const),
  );
  return {
    operationId: id,
    summary,
    ...(OPEN.has(path) && { security: [] }),
    requestParams: {
      ...(params && { path: params }),
      ...(query && { query }),
      ...(headers.length > 0 && { header: z.object(named) }),
    },
    ...(body && {
      requestBody: {
        // A body that may be empty may be left out.
        required: !body.safeParse({}).success,
        content: { 'application/json': { schema: body } },
      },
    }),
    responses: { ...toReplies(operation), ...toRefusals(operation) },
  };
}

function toReplies({ replies }: Operation): Record<`2${string}`, object> {
  return Object.fromEntries(
    Object.entries(replies).map(([status, reply]) => [
      status,
      {
        description: reply.description,
        ...(reply.content && { content: toContent(reply.content) }),
        ...(reply.headers && { headers: toHeaders(reply.headers) }),
      },
    ]),
  );
}

function toContent(content: NonNullable<Reply['content']>): object {
  if ('json' in content) return { 'application/json': { schema: content.json } };
  return 'events' in content
    ? { 'text/event-stream': { schema: { type: 'string', description: content.events } } }
    : { 'text/plain': { schema: { type: 'string', description: content.text } } };
}

function toHeaders(names: readonly (keyof typeof HEADERS)[]): oas31.HeadersObject {
  const schema = { type: 'string' } as const;
  return Object.fromEntries(names.map((name) => [HEADERS[name], { schema }]));
}

function toRefusals(operation: Operation): Record<`4${string}`, object> {
  return Object.fromEntries(
    [...refusalsOf(operation)].map(([status, codes]) => [
      status,
      {
        description: codes.join(', '),
        content: {
          'application/json': {
            schema: ProblemBody.extend({ code: z.enum(codes as [ErrorCode, ...ErrorCode[]]) }),
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
