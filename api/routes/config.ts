import { Router } from 'express';
import type { ApiDeps } from '../deps.js';

/** What the page needs to know about this server. */
export function createConfigRoutes(deps: ApiDeps): Router {
  const router = Router();
  router.get('/', (_request, response) => {
    response.json({
      agents: deps.agents.getRegisteredTypes(),
      defaultAgent: deps.defaultAgent ?? null,
      temporalUi: deps.temporalUi,
      namespace: deps.namespace,
    });
  });
  return router;
}
