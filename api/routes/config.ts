import { Router } from 'express';
import { isAddressable } from '../../ai-sdk/index.js';
import type { ApiDeps } from '../deps.js';

/** What the page needs to know about this server. */
export function createConfigRoutes(deps: ApiDeps): Router {
  const router = Router();
  router.get('/', (_request, response) => {
    response.json({
      agents: deps.agents.getRegisteredTypes().filter((name) => isAddressable(deps.agents, name)),
      defaultAgent: deps.defaultAgent ?? null,
      temporalUi: deps.temporalUi,
      namespace: deps.namespace,
    });
  });
  return router;
}
