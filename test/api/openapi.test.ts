import { describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { OPERATIONS, readOpenApi, refusalsOf } from '../../api/openapi/document.js';
import { createApi } from '../../api/index.js';
import { createRouters } from '../../api/routes/index.js';
import { STREAM_ROUTES } from '../../api/middleware/limits.js';
import { createFakeRuntime } from '../support/fake-runtime.js';
import { startApi } from './api-server.js';

const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
const deps = {
  ...createFakeRuntime(),
  namespace: 'default',
  checks: {},
  logger,
  allowUnauthenticated: true,
};

interface Layer {
  route?: { path: string | string[]; stack: { method?: string }[] };
}

/** `METHOD path` of everything that a router answers. */
function routesIn(stack: readonly Layer[], mount: string): string[] {
  return stack.flatMap(({ route }) => {
    if (route === undefined) return [];
    const methods = [...new Set(route.stack.map(({ method = 'all' }) => method))];
    return [route.path]
      .flat()
      .flatMap((path) =>
        methods.map((method) => `${method} ${(mount + path).replace(/(?<=.)\/$/, '')}`),
      );
  });
}

const documented = OPERATIONS.map(({ method, path }) => `${method} ${path}`).sort();

describe('the OpenAPI document', () => {
  it('has every route, and no other', () => {
    const { open, own } = createRouters(deps, () => Promise.resolve({ userId: 'ann' }));
    const routes = [...open, ...own].flatMap(({ path, router }) =>
      routesIn(router.stack as unknown as Layer[], path === '/' ? '' : path),
    );
    expect(documented).toEqual(routes.sort());
    // What stands on the app itself is no route of its own: streams are counted there.
    const app = createApi({ ...deps, limits: { openStreams: 1 } });
    const { stack } = (app as unknown as { router: { stack: Layer[] } }).router;
    const onApp = routesIn(stack, '').sort();
    const streams = (['get', 'post'] as const).flatMap((method) =>
      STREAM_ROUTES[method].map((path) => `${method} ${path}`),
    );
    expect(onApp).toEqual(streams.sort());
  });

  it('counts as streams what is described as one', () => {
    const streaming = OPERATIONS.filter(({ replies }) =>
      Object.values(replies).some(({ content }) => content !== undefined && 'events' in content),
    ).map(({ method, path }) => `${method} ${path}`);
    const counted = (['get', 'post'] as const).flatMap((method) =>
      STREAM_ROUTES[method].map((path) => `${method} ${path}`),
    );
    expect(counted.sort()).toEqual(streaming.sort());
  });

  it('is served to anybody', async () => {
    const api = await startApi(createFakeRuntime(), { authenticate: () => undefined });
    const response = await api.get('/api/openapi.json');
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(readOpenApi())));
    await api.close();
  });

  it('is one by the schema of OpenAPI 3.1, and its references lead somewhere', async () => {
    const document = JSON.parse(JSON.stringify(readOpenApi())) as Json;
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    for (const reference of referencesIn(document)) {
      expect([reference, find(document, reference)]).not.toContain(undefined);
    }
  });

  it('has unique ids, and declares the parameters of paths', () => {
    const document = JSON.parse(JSON.stringify(readOpenApi())) as Json;
    const ids = new Set<string>();
    for (const [path, item] of Object.entries(document['paths'] as Json)) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const operation of Object.values(item as Record<string, Json>)) {
        expect(ids.has(String(operation['operationId']))).toBe(false);
        ids.add(String(operation['operationId']));
        const parameters = (operation['parameters'] ?? []) as Json[];
        const inPath = parameters.filter((parameter) => parameter['in'] === 'path');
        expect(inPath.map(({ name }) => name)).toEqual(names);
        for (const parameter of inPath) expect(parameter['required']).toBe(true);
      }
    }
    expect(ids.size).toBe(OPERATIONS.length);
  });

  it('says with which codes a route refuses', () => {
    const { paths } = JSON.parse(JSON.stringify(readOpenApi())) as { paths: Json };
    for (const operation of OPERATIONS) {
      const path = operation.path.replace(/:(\w+)/g, '{$1}');
      for (const [status, codes] of refusalsOf(operation)) {
        const at = ['responses', String(status), 'content', 'application/json', 'schema'];
        const schema = [path, operation.method, ...at].reduce<unknown>(
          (value, key) => (value as Json)[key],
          paths,
        );
        const { code } = (schema as { properties: { code: { enum?: string[]; const?: string } } })
          .properties;
        expect(code.enum ?? [code.const]).toEqual(codes);
      }
    }
  });
});

type Json = Record<string, unknown>;

function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : referencesIn(inner),
  );
}

function find(document: Json, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((value, key) => (value as Json | undefined)?.[key], document);
}
