import { isForgedRequest } from '../../ai-sdk/index.js';
import { ROUTES } from '../support/all-routes.js';
import { startApi, type ApiServer, type StartOptions } from './api-server.js';

let api: ApiServer;

const APP = 'https://app.test';
async function start(options: StartOptions = {}): Promise<ApiServer> {
  api = await startApi(options);
  return api;
}

const preflight = (server: ApiServer, origin: string): Promise<Response> =>
  fetch(`${server.url}/api/chat/s1`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,x-resume-from-sequence',
    },
  });

const words = (text: string | null): string[] => (text ?? '').split(',').map((word) => word.trim());

describe('pages of other origins', () => {
  it('pages of other origins are not allowed by default', async () => {
    const server = await start();
    const response = await preflight(server, APP);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    const read = await server.get('/api/config', { origin: APP });
    expect(read.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('pages of listed origins are allowed, with the headers that resuming needs', async () => {
    const server = await start({ allowedOrigins: [APP] });
    const response = await preflight(server, APP);
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe(APP);
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    expect(response.headers.get('access-control-max-age')).toBe('600');
    expect(response.headers.get('vary')).toContain('Origin');
    expect(words(response.headers.get('access-control-allow-headers'))).toEqual(
      expect.arrayContaining([
        'authorization',
        'content-type',
        'last-event-id',
        'x-ai-sdk-profile',
        'x-resume-from-sequence',
        'x-resume-at',
        'x-existing-message-id',
      ]),
    );
    expect(words(response.headers.get('access-control-allow-methods'))).toEqual(
      expect.arrayContaining(['GET', 'POST', 'PATCH', 'DELETE']),
    );
    const refused = await server.post('/api/chat/s1/stop', {}, { origin: APP });
    expect(refused.status).toBe(404);
    expect(refused.headers.get('access-control-allow-origin')).toBe(APP);
    expect(words(refused.headers.get('access-control-expose-headers'))).toEqual(
      expect.arrayContaining([
        'x-session-id',
        'x-run-id',
        'retry-after',
        'ratelimit',
        'ratelimit-policy',
      ]),
    );
    const other = await preflight(server, 'https://evil.test');
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('a preflight needs no identity, any other request needs one', async () => {
    const server = await start({ authenticate: () => undefined, allowedOrigins: [APP] });
    expect((await preflight(server, APP)).status).toBe(204);
    const response = await server.get('/api/config', { origin: APP });
    expect(response.status).toBe(401);
    expect(response.headers.get('access-control-allow-origin')).toBe(APP);
  });

  it('pages of listed origins may send cookies only with allowCredentials', async () => {
    const server = await start({ allowedOrigins: [APP], allowCredentials: true });
    const response = await preflight(server, APP);
    expect(response.headers.get('access-control-allow-credentials')).toBe('true');
  });

  it('a page of another origin may read what CORS lets it', async () => {
    const server = await start({ allowedOrigins: [APP] });
    expect((await server.get('/api/config', { 'sec-fetch-site': 'cross-site' })).status).toBe(200);
  });

  const evil = { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' };
  const neighbour = { origin: 'https://chat.test:8443', 'sec-fetch-site': 'same-site' };
  const basic = { authorization: 'Basic YTpi' };
  const bearer = { authorization: 'Bearer x' };

  it('it gets nothing whose reading or export is recorded in the name of the visitor', async () => {
    const server = await start({ allowedOrigins: [APP] });
    const reading = ROUTES.filter(
      ({ method, access }) => method === 'get' && access !== 'everyone',
    );
    for (const { id, path, audits } of reading) {
      const at = path.replace(/:\w+/g, 'other');
      const codeFor = async (headers: Record<string, string>): Promise<unknown> => {
        const response = await server.get(at, headers);
        if (response.status < 400) return void response.body?.cancel();
        return ((await response.json()) as { code?: string }).code;
      };
      const isRefused = (await codeFor({ ...evil, ...bearer })) === 'unauthorized';
      expect([id, isRefused]).toEqual([id, audits !== 'none']);
      expect(await codeFor({ ...evil, origin: APP })).not.toBe('unauthorized');
      expect(await codeFor({ 'sec-fetch-site': 'same-origin' })).not.toBe('unauthorized');
    }
  });

  it.each<[string, Record<string, string>, boolean]>([
    ['a program', {}, false],
    ['a program with Basic sign-in', basic, false],
    ['a page of this origin', { 'sec-fetch-site': 'same-origin', ...basic }, false],
    ['a page of this origin that tells no site', { origin: 'https://chat.test' }, false],
    ['what a person typed', { 'sec-fetch-site': 'none', ...basic }, false],
    ['a page of a listed origin', { ...evil, origin: APP, ...basic }, false],
    ['a neighbouring page with a token', { ...neighbour, ...bearer }, false],
    ['a page that tells its origin only, with a token', { origin: evil.origin, ...bearer }, false],
    ['another page with cookies', evil, true],
    ['another page with Basic sign-in', { ...evil, ...basic }, true],
    ['another page with Negotiate', { ...evil, authorization: 'Negotiate YTpi' }, true],
    ['another page with a token', { ...evil, ...bearer }, true],
    ['a page that hides its origin', { 'sec-fetch-site': 'cross-site', ...bearer }, true],
    ['a page without a name', { ...evil, ...basic, origin: 'null' }, true],
    ['a neighbouring page with Basic sign-in', { ...neighbour, ...basic }, true],
    ['a page that tells its origin only', { origin: evil.origin, ...basic }, true],
    ['the word Bearer alone', { origin: evil.origin, authorization: 'Bearer ' }, true],
    ...[
      'text/plain',
      'Text/Plain; charset=utf-8',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=a',
    ].map((type): [string, Record<string, string>, boolean] => [
      `a neighbouring page with a token and ${type}`,
      { ...neighbour, ...bearer, 'content-type': type },
      true,
    ]),
  ])('%s: is it taken for forged?', (_who, headers, isForged) => {
    const sent = { url: 'https://chat.test/api/chat', headers: new Headers(headers) };
    for (const method of ['POST', 'PATCH', 'DELETE']) {
      expect(isForgedRequest({ ...sent, method }, [APP])).toBe(isForged);
    }
    expect(isForgedRequest({ ...sent, method: 'GET' }, [APP])).toBe(false);
  });

  it.each(['*', 'app.test', 'https://app.test/', 'https://app.test/x', 'null'])(
    '%s is not accepted as an origin',
    async (origin) => {
      await expect(start({ allowedOrigins: [origin] })).rejects.toThrow('is not an origin');
    },
  );
});

it.each(['/healthz', '/api/config', '/api/nowhere', '/'])(
  'the reply of %s has the security headers',
  async (path) => {
    const { headers } = await (await start()).get(path);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')?.split(';')).toEqual([
      "default-src 'self'",
      "base-uri 'self'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "img-src 'self' data:",
      "media-src 'self' data:",
      "object-src 'none'",
      "script-src 'self'",
      "script-src-attr 'none'",
      "style-src 'self' 'unsafe-inline'",
    ]);
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('strict-transport-security')).toBeNull();
    expect(headers.get('x-powered-by')).toBeNull();
  },
);
