import express from 'express';
import type { Express } from 'express';
import { LIMITS } from '../protocol/limits.js';
import type { ApiDeps } from './deps.js';
import { createIdentityReader } from './identity.js';
import { createErrorResponder, refuseUnknown } from './refusals.js';
import { createAgentRoutes } from './routes/agent.js';
import { createChatRoutes } from './routes/chat.js';
import { createConfigRoutes } from './routes/config.js';
import { createHealthRoutes } from './routes/health.js';
import { createAnswerRoutes } from './routes/pending.js';
import { createQueueRoutes } from './routes/queue.js';
import { createRerunRoutes } from './routes/reruns.js';
import { createSessionRoutes } from './routes/session.js';
import { createSessionsRoutes } from './routes/sessions.js';

/** Clients of the AI SDK's workflow transport send JSON as text. */
const JSON_TYPES = ['application/json', 'application/*+json', 'text/plain'];

/**
 * The HTTP side as an Express app, without a port.
 *
 * @throws Error without `authenticate`, unless `allowUnauthenticated` says that none is wanted
 */
export function createApi(deps: ApiDeps): Express {
  const readIdentity = createIdentityReader(deps);
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use((_request, response, next) => {
    response.set('x-content-type-options', 'nosniff');
    next();
  });
  app.use(createHealthRoutes(deps.checks));
  app.use('/api', express.json({ limit: LIMITS.bodyBytes, type: JSON_TYPES }));
  app.use('/api/config', createConfigRoutes(deps));
  app.use('/api/agent', createAgentRoutes(deps, readIdentity));
  app.use('/api/chat', createQueueRoutes(deps, readIdentity));
  app.use('/api/chat', createSessionRoutes(deps, readIdentity));
  app.use('/api/chat', createRerunRoutes(deps, readIdentity));
  app.use('/api/chat', createAnswerRoutes(deps, readIdentity));
  app.use('/api/sessions', createSessionsRoutes(deps, readIdentity));
  app.use('/api/chat', createChatRoutes(deps, readIdentity));
  if (deps.webRoot !== undefined) app.use(express.static(deps.webRoot));
  app.use(refuseUnknown);
  app.use(createErrorResponder(deps.logger));
  return app;
}
