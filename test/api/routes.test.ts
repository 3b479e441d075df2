import { createApi } from '../../api/index.js';
import { OPEN_API, ROUTES } from '../support/all-routes.js';
import { isCounted, mayStream, type Route } from '../../api/routes/route.js';
import { allExtensions } from '../../extensions/index.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { createIdleRuns } from '../support/idle-workflows.js';
import { say, startApi, type ApiServer, type StartOptions } from './api-server.js';

let api: ApiServer;

interface Problem {
  code?: string;
  error?: string;
  message?: string;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

async function start(options: StartOptions = {}): Promise<ApiServer> {
  api = await startApi({ defaultAgent: 'lab', ...options });
  return api;
}

/** Asks for a path about a session that does not exist, with an empty body. */
async function ask(
  { url }: ApiServer,
  { method, path }: { method: string; path: string },
  headers: Record<string, string> = {},
): Promise<{ status: number; code: string | undefined; error: string | undefined }> {
  const response = await fetch(url + path.replace(/:\w+/g, 'other'), {
    method: method.toUpperCase(),
    headers: { ...(method !== 'get' && { 'content-type': 'application/json' }), ...headers },
    ...(method !== 'get' && { body: '{}' }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('application/json') === true;
  const body = (isJson ? JSON.parse(text) : {}) as Omit<Problem, 'error'> & {
    error?: string | object;
  };
  // Below /v1 a refusal has OpenAI's shape.
  const { code, error, message } = (typeof body.error === 'object' ? body.error : body) as Problem;
  return { status: response.status, code, error: error ?? message };
}

const { paths: described } = OPEN_API;
const named = ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const);

describe('a declared route', () => {
  let shared: ApiServer;
  beforeAll(async () => {
    shared = await startApi({ defaultAgent: 'lab' });
  });

  it.each(named)('%s answers over HTTP and is in the document', async (_name, route) => {
    const { error = '' } = await ask(shared, route);
    expect(error).not.toMatch(/^There is no (GET|POST|PATCH|DELETE)/);
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    expect(described?.[path]?.[route.method]).toMatchObject({ operationId: route.id });
  });

  it('a declared route is refused without a sign-in unless its access is everyone', async () => {
    const server = await start({ authenticate: () => undefined, allowUnauthenticated: false });
    for (const route of ROUTES) {
      const { code } = await ask(server, route);
      expect([route.id, code === 'unauthorized']).toEqual([route.id, route.access !== 'everyone']);
    }
  });

  it('a declared route takes a slot of its sender if it may reply with a stream', async () => {
    const server = await start({ limits: { openStreams: 1 } });
    const open = await server.post('/api/chat/s1', { messages: [say('u1', 'hi')] });
    expect(open.status).toBe(200);
    for (const route of ROUTES) {
      const { code } = await ask(server, route);
      expect([route.id, code === 'too_many_streams']).toEqual([route.id, mayStream(route)]);
    }
    await open.body?.cancel();
  });

  it('a declared route counts towards the requests of its sender if it may change something, or exports', async () => {
    const server = await start({ limits: { requestsPerMinute: 1 } });
    await server.post('/api/chat/s1/stop', {});
    for (const route of ROUTES) {
      const { code } = await ask(server, route);
      expect([route.id, code === 'too_many_requests']).toEqual([route.id, isCounted(route)]);
    }
    const reads = ROUTES.filter((route) => route.audits === 'read' && isCounted(route));
    expect(reads.map(({ id }) => id).sort()).toEqual(['exportAudit', 'exportMe', 'exportPerson']);
  });
});

it('no cache keeps a reply, and a refusal without a sign-in names its scheme', async () => {
  const server = await start();
  const { headers } = await server.get('/api/sessions');
  expect(headers.get('cache-control')).toBe('no-store');
  const members = Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`m${String(n)}`, 1]));
  const refused = await server.post('/api/chat/s1/stop', members);
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringContaining('too many members'),
  ]);
  const closed = await start({ authenticate: () => undefined, allowUnauthenticated: false });
  const unknown = await closed.get('/api/sessions');
  expect(unknown.headers.get('www-authenticate')).toBe('Bearer');
});

describe('a page of another origin', () => {
  const bearer = { authorization: 'Bearer x' };
  const evil = { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' };
  const neighbour = { origin: 'https://app.test:8443', 'sec-fetch-site': 'same-site' };
  const writing = ROUTES.filter(({ method }) => method !== 'get');

  it.each<[string, Record<string, string>, boolean]>([
    ['with what its browser attaches', { ...evil, authorization: 'Basic YTpi' }, true],
    ['with a token', { ...evil, ...bearer }, true],
    ['with a form', { ...neighbour, ...bearer, 'content-type': 'text/plain' }, true],
    ['nearby, with a token', { ...neighbour, ...bearer }, false],
  ])('%s: is it kept from every route that changes something?', async (_how, headers, isKept) => {
    const server = await start();
    for (const route of writing) {
      const { code } = await ask(server, route, headers);
      // The address of a webhook is its permission.
      const isRefused = isKept && route.access !== 'everyone';
      expect([route.id, code === 'unauthorized']).toEqual([route.id, isRefused]);
    }
    expect(writing.length).toBeGreaterThan(30);
  });
});

describe('a path or method that no route declares', () => {
  const declared = new Set(ROUTES.map(({ method, path }) => `${method} ${path}`));
  const paths = [...new Set(ROUTES.map(({ path }) => path))];
  const others = paths.flatMap((path) =>
    METHODS.filter((method) => !declared.has(`${method} ${path}`)).map((method) => ({
      method,
      path,
    })),
  );

  it('an undeclared path or method is not served', async () => {
    const server = await start();
    const asked = [...others, { method: 'get', path: '/api/chat/other/nothing' }];
    const answers = await Promise.all(asked.map((other) => ask(server, other)));
    for (const [nth, answered] of answers.entries()) {
      const other = asked[nth];
      expect([other, answered]).toMatchObject([other, { status: 404, code: 'not_found' }]);
      expect(answered.error).toMatch(/^There is no /);
    }
  });

  it('the app has no route that is not declared', () => {
    const stores = createMemoryStores();
    const app = createApi({
      executor: { runs: createIdleRuns(stores) },
      stores,
      agents: [],
      extensions: allExtensions(),
      allowUnauthenticated: true,
    });
    const { stack } = (app as unknown as { router: { stack: Layer[] } }).router;
    // No router of its own stands beside the routes.
    expect(stack.filter(({ handle }) => handle.stack !== undefined)).toEqual([]);
    const mounted = stack.flatMap(({ route }) =>
      route === undefined ? [] : [`${String(route.stack[0]?.method)} ${route.path}`],
    );
    expect(mounted.sort()).toEqual([...declared].sort());
  });
});

interface Layer {
  route?: Pick<Route, 'path'> & { stack: { method?: string }[] };
  handle: { stack?: unknown };
}
