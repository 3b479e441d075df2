import express, { type Express, type RequestHandler } from 'express';
import { pino } from 'pino';
import { isAddressable } from '../ai-sdk/index.js';
import { AgentRegistry, type AgentDefinition } from '../agents/index.js';
import { isSessionId, rootOf, sessionOfRun, toShownSessionId } from '../protocol/ids.js';
import type { AgentExecutor } from '../runs/executor.js';
import { lastOfEach, tracerOf } from '../runs/extension.js';
import type { Runs } from '../runs/runs.js';
import { joinParts, requireParts } from '../store/contract/shared-data.js';
import type { Store } from '../store/contract/store.js';
import type { ApiDeps, ApiSettings, ReadinessChecks, RouteDeps } from './deps.js';
import type { ApiExtension } from './extension.js';
import { createCountKey, createIdentityReader } from './identity.js';
import { createRequestObserver, NO_METRICS, type ApiMetrics } from './metrics.js';
import {
  createCrossOrigin,
  createCsrfGuard,
  createDnsRebindingGuard,
  requireHost,
  createSecurityHeaders,
} from './middleware/guards.js';
import { createLimits, type Limits, createWebhookRate } from './middleware/limits.js';
import type { CountRead } from './middleware/read-budget.js';
import {
  createErrorResponder,
  refuseUnknown,
  sendRefusal,
  type ApiLogger,
  type ProblemShape,
  type SendRefusal,
} from './middleware/refusals.js';
import { createReadiness } from './readiness.js';
import { routesOf } from './routes/index.js';
import { isCounted, mayStream, type Route, nameSession, sessionPaths } from './routes/route.js';

interface ApiStores {
  store: ApiDeps['stateStore'];
  streamManager: ApiDeps['streamManager'];
  ping?: () => Promise<void>;
}

export type ApiOptions = ApiSettings & {
  /** `createAgentExecutor(…)` or `createInProcessExecutor(…)`. */
  executor: { readonly runs: Runs } & Partial<
    Pick<AgentExecutor, 'namespace' | 'checks' | 'readWorkers'>
  >;
  agents: ApiDeps['agents'] | readonly AgentDefinition[];
  /** Optional capabilities. Default: none. */
  extensions?: readonly ApiExtension[] | undefined;
  /** For links into the Temporal UI. Default: the executor's. */
  namespace?: string;
  /** Checks of `/readyz`. Default: the stores, Temporal, and a worker. */
  checks?: ReadinessChecks;
  /** Default: warnings and errors as JSON lines on stdout. */
  logger?: ApiLogger;
} & (
    | { stores: ApiStores }
    | { stateStore: ApiStores['store']; streamManager: ApiStores['streamManager'] }
  );

/** Creates the Express app of the API, without the extensions that every exported one has. */
export function createApi({ extensions: given, ...rest }: ApiOptions): Express {
  const extensions = lastOfEach(given);
  const options = { ...rest, extensions };
  const deps = toRouteDeps(options);
  const { metrics, readIdentity } = deps;
  const refuse: SendRefusal = (request, response, refusal) => {
    metrics.refused(refusal.code);
    sendRefusal(request, response, refusal, problems);
  };
  const mount = (route: Route, { guards, reads }: Mounted = {}): void => {
    app.route(route.path)[route.method](...(guards ?? []), async (request, response) => {
      const counted = await reads?.(request, response);
      await route.answer(
        counted === undefined ? deps : countReads(deps, counted),
        request,
        response,
      );
    });
  };
  const problems = problemsOf(extensions);
  const routes = routesOf(options);
  const roots = rootsOf(routes);
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('trust proxy', deps.trustedProxies ?? false);
  app.use(createRequestObserver(metrics));
  const { tracer } = deps;
  if (tracer !== undefined) {
    app.use((request, _response, next) => {
      tracer.serve(request.get('traceparent'), next);
    });
  }
  app.use(createSecurityHeaders(), requireHost);
  const { hostNames = deps.authenticate === undefined ? [] : undefined } = deps;
  if (hostNames !== undefined) app.use(createDnsRebindingGuard(hostNames));
  const crossOrigin = createCrossOrigin(
    deps,
    extensions.flatMap((each) => each.crossOrigin ?? []),
  );
  if (crossOrigin !== undefined) app.use(roots, crossOrigin);
  for (const each of extensions.flatMap(({ middleware = [] }) => middleware)) app.use(each);
  for (const each of extensions.flatMap(({ pages }) => pages?.(deps) ?? [])) app.use(each);
  const webhookRate = createWebhookRate();
  for (const route of routes) {
    if (route.access !== 'everyone') continue;
    mount(route, route.payload === undefined ? {} : { guards: [webhookRate] });
  }
  app.use(sessionPaths(routes), nameSession);
  app.use(roots, createCsrfGuard(deps.allowedOrigins ?? []));
  // The caller is authenticated before limits and body, so the server never reads a stranger's
  // body.
  app.use(roots, async (request, _response, next) => {
    await readIdentity(request);
    next();
  });
  const notForeign = createCsrfGuard(deps.allowedOrigins ?? [], { leavesTrace: true });
  const limits = createLimits(deps, createCountKey(deps, readIdentity));
  for (const route of routes) {
    if (route.access === 'everyone') continue;
    const guards = toGuards(route, limits);
    if (route.audits !== 'none') guards.unshift(notForeign);
    mount(route, { guards, reads: limits.reads });
  }
  if (deps.webRoot !== undefined) servePages(app, deps.webRoot);
  app.use(refuseUnknown);
  app.use(createErrorResponder(deps.logger, refuse));
  return app;
}

interface Mounted {
  guards?: RequestHandler[];
  reads?: Limits['reads'];
}

function countReads(deps: RouteDeps, countRead: CountRead): RouteDeps {
  const { sessions, queue } = deps.stateStore;
  const counted: Pick<Store['sessions'], 'view' | 'rows'> = {
    view: (sessionId, _meter, wanted) =>
      countRead((meter) => sessions.view(sessionId, meter, wanted)),
    rows: (sessionId, from, to) => countRead((meter) => sessions.rows(sessionId, from, to, meter)),
  };
  // A spread would lose methods that a store inherits from its class.
  const stateStore = Object.assign(Object.create(deps.stateStore) as RouteDeps['stateStore'], {
    sessions: Object.assign(Object.create(sessions) as Store['sessions'], counted),
    queue: Object.assign(Object.create(queue) as Store['queue'], {
      read: (sessionId) => countRead((meter) => queue.read(sessionId, meter)),
    } satisfies Pick<Store['queue'], 'read'>),
  });
  return { ...deps, stateStore, countRead };
}

const PARTS: readonly (keyof ApiStores['store'])[] = [
  'sessions',
  'waiting',
  'documents',
  'checkpoints',
  'queue',
  'audit',
  'usage',
  'requests',
  'files',
  'owners',
  'runs',
  'calls',
];

function toRouteDeps(options: ApiOptions & { extensions: readonly ApiExtension[] }): RouteDeps {
  const { executor, extensions } = options;
  const stores: ApiStores =
    'stores' in options
      ? options.stores
      : { store: options.stateStore, streamManager: options.streamManager };
  requireParts('store', stores.store, PARTS);
  requireParts('stream manager', stores.streamManager, ['read', 'follow']);
  joinParts(executor, stores.store, stores.streamManager);
  const agents = 'has' in options.agents ? options.agents : new AgentRegistry(options.agents);
  const checks = options.checks ?? {
    // An absent check must not be a key: `/readyz` runs every key.
    ...(stores.ping && { redis: stores.ping }),
    ...executor.checks,
  };
  const counting = extensions.find((each) => each.metrics !== undefined);
  const metrics = options.metrics ?? counting?.metrics?.() ?? NO_METRICS;
  const describing = extensions.find((each) => each.openApi !== undefined);
  const allRoutes = routesOf({ extensions });
  let openApi: string | undefined;
  return {
    ...options,
    executor: countRuns(executor.runs, metrics),
    stateStore: stores.store,
    streamManager: stores.streamManager,
    agents,
    defaultAgent: options.defaultAgent ?? onlyAgent(agents),
    namespace: options.namespace ?? executor.namespace ?? 'default',
    checks,
    readWorkers: executor.readWorkers,
    logger: options.logger ?? pino({ name: 'api', level: 'warn' }),
    tracer: tracerOf(extensions),
    metrics,
    readIdentity: createIdentityReader(options),
    readReadiness: createReadiness(checks),
    countRead: (read) => read(),
    takesFiles: allRoutes.some(({ upload }) => upload !== undefined),
    readOpenApi: async () => {
      openApi ??= JSON.stringify(await describing?.openApi?.(allRoutes, problemsOf(extensions)));
      return openApi;
    },
  };
}

function onlyAgent(agents: ApiDeps['agents']): string | undefined {
  const names = agents.getRegisteredTypes().filter((name) => isAddressable(agents, name));
  return names.length === 1 ? names[0] : undefined;
}

function countRuns(executor: Runs, metrics: ApiMetrics): Runs {
  return {
    ...executor,
    execute: async (input) => {
      const result = await executor.execute(input);
      if (result.kind === 'begun') metrics.begun(result.run.agent);
      return result;
    },
    resume: async (input) => {
      const result = await executor.resume(input);
      if (result.kind === 'resumed') metrics.begun(result.run.agent);
      return result;
    },
    retry: async (input) => {
      const run = await executor.retry(input);
      metrics.begun(run.agent);
      return run;
    },
  };
}

function problemsOf(extensions: readonly ApiExtension[]): ProblemShape[] {
  return extensions.flatMap(({ problems }) => problems ?? []);
}

/** Returns the root paths under which requests need a caller and pass the CSRF guard. */
function rootsOf(routes: readonly Route[]): string[] {
  const withCallers = routes.filter(({ access }) => access !== 'everyone');
  return [...new Set(withCallers.map(({ path }) => `/${path.split('/')[1] ?? ''}`))];
}

/** Guards before a route. Rates and slots come first, so that they refuse before a body is read. */
function toGuards(route: Route, limits: Limits): RequestHandler[] {
  const { requests, streams, bodies, uploads } = limits;
  return [
    isCounted(route) ? requests : undefined,
    mayStream(route) ? streams : undefined,
    route.body === undefined ? undefined : bodies,
    route.upload === undefined ? undefined : uploads,
  ].filter((guard) => guard !== undefined);
}

function servePages(app: Express, webRoot: string): void {
  app.use(express.static(webRoot));
  app.get(['/console', '/console/*place'], (request, response, next) => {
    response.sendFile('console.html', { root: webRoot, cacheControl: false }, () => {
      if (response.headersSent) return;
      // A custom page may have no console; links of notices then lead to the conversation.
      const sessionId = sessionOfPlace(request.path);
      if (sessionId === undefined) next();
      else response.redirect(`${request.baseUrl}/?session=${sessionId}`);
    });
  });
}

function sessionOfPlace(path: string): string | undefined {
  const [, named = ''] = /^\/console\/(?:waiting|runs)\/([^/]+)$/.exec(path) ?? [];
  const sessionId = toShownSessionId(rootOf(sessionOfRun(named.replaceAll(/%3A/gi, ':'))));
  return isSessionId(sessionId) ? sessionId : undefined;
}
