import express from 'express';
import type { Express } from 'express';
import { toApiDeps, type ApiOptions } from './api-options.js';
import { createCrossOrigin } from './middleware/cross-origin.js';
import { createJsonBody } from './middleware/json-body.js';
import { createLimits, STREAM_ROUTES } from './middleware/limits.js';
import { createCsrfGuard } from './middleware/csrf-guard.js';
import { createDnsRebindingGuard, requireHost } from './middleware/dns-rebinding-guard.js';
import { createSecurityHeaders } from './middleware/security-headers.js';
import { sendRefusal, type SendRefusal } from './middleware/send-refusal.js';
import { createCountKey, createIdentityReader } from './identity.js';
import { createApiMetrics } from './metrics/api-metrics.js';
import { countRuns } from './metrics/count-runs.js';
import { createMountNote, createRequestObserver } from './metrics/observe-requests.js';
import { nameSession } from './session-access.js';
import { createErrorResponder, refuseUnknown } from './middleware/refusals.js';
import { createRouters } from './routes/index.js';

/**
 * The HTTP side as an Express app, without a port.
 *
 * @throws Error without `authenticate`, unless `allowUnauthenticated` says that none is wanted
 */
export function createApi(options: ApiOptions): Express {
  const given = toApiDeps(options);
  const metrics = given.metrics ?? createApiMetrics();
  const deps = { ...given, metrics, executor: countRuns(given.executor, metrics) };
  const refuse: SendRefusal = (request, response, refusal) => {
    metrics.refused(refusal.code);
    sendRefusal(request, response, refusal);
  };
  const readIdentity = createIdentityReader(deps);
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('trust proxy', deps.trustedProxies ?? false);
  app.use(createRequestObserver(metrics));
  app.use(createSecurityHeaders(), requireHost);
  const { hostNames = deps.authenticate === undefined ? [] : undefined } = deps;
  if (hostNames !== undefined) app.use(createDnsRebindingGuard(hostNames));
  const routers = createRouters(deps, readIdentity);
  const crossOrigin = createCrossOrigin(deps);
  if (crossOrigin !== undefined) app.use('/api', crossOrigin);
  for (const { path, router } of routers.open) {
    app.use(path, createMountNote(path), router);
  }
  app.use('/api', nameSession);
  app.use('/api', createCsrfGuard(deps.allowedOrigins ?? []));
  // Who it is comes first: nobody's body is read for nothing.
  app.use('/api', async (request, _response, next) => {
    await readIdentity(request);
    next();
  });
  const limits = createLimits(deps, createCountKey(deps, readIdentity));
  if (limits.requests !== undefined) app.use('/api', limits.requests);
  if (limits.streams !== undefined) {
    for (const path of STREAM_ROUTES.get) app.get(path, limits.streams);
    for (const path of STREAM_ROUTES.post) app.post(path, limits.streams);
  }
  app.use('/api', createJsonBody(limits.bodies));
  for (const { path, router } of routers.own) {
    app.use(path, createMountNote(path), router);
  }
  if (deps.webRoot !== undefined) app.use(express.static(deps.webRoot));
  app.use(refuseUnknown);
  app.use(createErrorResponder(deps.logger, refuse));
  return app;
}
