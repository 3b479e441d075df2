import type { Router } from 'express';
import type { ApiDeps } from '../deps.js';
import type { ReadIdentity } from '../identity.js';
import { createAgentRoutes } from './agent.js';
import { createChatRoutes } from './chat.js';
import { createConversationsRoutes } from './conversations.js';
import { createConfigRoutes } from './config.js';
import { createApiMetrics } from '../metrics/api-metrics.js';
import { createSessionLoader } from '../session-access.js';
import { createHealthRoutes } from './health.js';
import { createMetricsRoutes } from './metrics.js';
import { createOpenApiRoutes } from './openapi.js';
import { createAnswerRoutes } from './pending.js';
import { createQueueRoutes } from './queue.js';
import { createRerunRoutes } from './reruns.js';
import { createSessionRoutes } from './session.js';
import { createSessionsRoutes } from './sessions.js';

/** A router, and the path under which it stands. */
export interface Mounted {
  path: string;
  router: Router;
}

/** All routes: what anybody may ask, and what is for those who are known, of their own sessions. */
export function createRouters(
  deps: ApiDeps,
  readIdentity: ReadIdentity,
): { open: Mounted[]; own: Mounted[] } {
  const open = [
    { path: '/', router: createHealthRoutes(deps.checks) },
    ...(deps.publicMetrics === false
      ? []
      : [{ path: '/', router: createMetricsRoutes(deps.metrics ?? createApiMetrics()) }]),
    { path: '/api/openapi.json', router: createOpenApiRoutes() },
  ];
  const loadOwnSession = createSessionLoader(deps, readIdentity);
  const own = [
    { path: '/api/config', router: createConfigRoutes(deps) },
    { path: '/api/agent', router: createAgentRoutes(deps, readIdentity, loadOwnSession) },
    { path: '/api/chat', router: createQueueRoutes(deps, loadOwnSession) },
    { path: '/api/chat', router: createSessionRoutes(deps, readIdentity, loadOwnSession) },
    { path: '/api/chat', router: createRerunRoutes(deps, loadOwnSession) },
    { path: '/api/chat', router: createAnswerRoutes(deps, loadOwnSession) },
    { path: '/api/conversations', router: createConversationsRoutes(deps, readIdentity) },
    { path: '/api/sessions', router: createSessionsRoutes(deps, readIdentity) },
    { path: '/api/chat', router: createChatRoutes(deps, readIdentity) },
  ];
  return { open, own };
}
