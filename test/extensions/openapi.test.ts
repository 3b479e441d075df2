import { Validator } from '@seriousme/openapi-schema-validator';
import { refusalsOf } from '../../extensions/openapi/index.js';
import { OPEN_API, ROUTES } from '../support/all-routes.js';
import { startApi } from '../api/api-server.js';

const document = JSON.parse(JSON.stringify(OPEN_API)) as Json;

interface Codes {
  enum?: string[];
  const?: string;
}
/** Schema of a refusal, in the API's own form or in OpenAI's. */
interface ProblemSchema {
  properties: { code?: Codes; error?: { properties?: { code: Codes } } };
}

describe('the OpenAPI document', () => {
  it('the document is served to everyone', async () => {
    const api = await startApi({ authenticate: () => undefined });
    const response = await api.get('/api/openapi.json');
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(document);
  });

  it('the document is valid OpenAPI 3.1, and its references resolve', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    for (const reference of referencesIn(document)) {
      expect([reference, find(document, reference)]).not.toContain(undefined);
    }
  });

  it('operation ids are unique and path parameters are declared', () => {
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
    expect(ids.size).toBe(ROUTES.length);
  });

  it('the document lists the refusal codes of each route', () => {
    for (const route of ROUTES) {
      const path = route.path.replace(/:(\w+)/g, '{$1}');
      for (const [status, codes] of refusalsOf(route)) {
        const at = ['responses', String(status), 'content', 'application/json', 'schema'];
        const schema = [path, route.method, ...at].reduce<unknown>(
          (value, key) => (value as Json)[key],
          document['paths'],
        );
        const { error, code = error?.properties?.code } = (schema as ProblemSchema).properties;
        expect(code?.enum ?? [code?.const]).toEqual(codes);
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

function find(within: Json, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((value, key) => (value as Json | undefined)?.[key], within);
}
