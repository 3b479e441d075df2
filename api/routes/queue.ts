import { Router, type Response } from 'express';
import { editQueuedMessage, notQueued, toQueue } from '../../ai-sdk/index.js';
import { QueueEdit, QueueQuery } from '../../protocol/http.js';
import type { ApiDeps } from '../deps.js';
import type { LoadOwnSession } from '../session-access.js';
import { parseBody, parseQuery, parseSessionId } from '../validate.js';

/** Messages that wait for their turn: `GET` lists them, `PATCH` edits one, `DELETE` removes one or all. */
export function createQueueRoutes(deps: ApiDeps, loadOwnSession: LoadOwnSession): Router {
  const { stateStore: store } = deps;
  const router = Router();
  const path = '/:sessionId/queue';

  router.use(path, async (request, response, next) => {
    response.set('cache-control', 'no-store');
    const { record } = await loadOwnSession(request, response, parseSessionId(request));
    response.locals['session'] = record.sessionId;
    next();
  });

  router.get(path, async (_request, response) => {
    response.json({ queue: toQueue(await store.queue.read(sessionOf(response))) });
  });

  router.patch(path, async (request, response) => {
    const sessionId = sessionOf(response);
    await editQueuedMessage(store, { sessionId, ...parseBody(QueueEdit, request) });
    response.json({ queue: toQueue(await store.queue.read(sessionId)) });
  });

  router.delete(path, async (request, response) => {
    const sessionId = sessionOf(response);
    const { id: messageId } = parseQuery(QueueQuery, request);
    const one = messageId === undefined ? {} : { messageId };
    const { count } = await store.queue.remove({ sessionId, ...one, now: Date.now() });
    if (messageId !== undefined && count === 0) throw notQueued();
    response.json({ queue: toQueue(await store.queue.read(sessionId)) });
  });

  return router;
}

/** The session whose owner was checked. */
function sessionOf(response: Response): string {
  return String(response.locals['session']);
}
