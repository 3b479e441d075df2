import type { Router } from 'express';
import type { ApiDeps } from '../deps.js';
import type { ReadIdentity } from '../identity.js';
import { createAgentRoutes } from './agent.js';
import { createChatRoutes } from './chat.js';
import { createConfigRoutes } from './config.js';
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

/** Everything under `/api` that is about sessions: whoever asks is known, and sees only his own. */
export function createSessionRouters(deps: ApiDeps, readIdentity: ReadIdentity): Mounted[] {
  return [
    { path: '/api/config', router: createConfigRoutes(deps) },
    { path: '/api/agent', router: createAgentRoutes(deps, readIdentity) },
    { path: '/api/chat', router: createQueueRoutes(deps, readIdentity) },
    { path: '/api/chat', router: createSessionRoutes(deps, readIdentity) },
    { path: '/api/chat', router: createRerunRoutes(deps, readIdentity) },
    { path: '/api/chat', router: createAnswerRoutes(deps, readIdentity) },
    { path: '/api/sessions', router: createSessionsRoutes(deps, readIdentity) },
    { path: '/api/chat', router: createChatRoutes(deps, readIdentity) },
  ];
}
