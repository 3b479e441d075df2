import { Router } from 'express';
import { BranchBody, CheckpointQuery, HEADERS, RetryBody } from '../../protocol/http.js';
import type { ApiDeps } from '../deps.js';
import type { FindOwn } from '../own-session.js';
import { parseBody, parseQuery, parseSessionId } from '../validate.js';

/** Doing turns again, and the points to which a conversation can go back. */
export function createRerunRoutes(deps: ApiDeps, findOwn: FindOwn): Router {
  const router = Router();

  router.post('/:sessionId/retry', async (request, response) => {
    const { checkpointId, messageId } = parseBody(RetryBody, request);
    const sessionId = parseSessionId(request);
    const { caller } = await findOwn(request, response, sessionId);
    const { runId } = await deps.executor.retry({
      sessionId,
      by: caller.userId,
      ...(checkpointId !== undefined && { checkpointId }),
      ...(messageId !== undefined && { messageId }),
    });
    response.status(202).set(HEADERS.runId, runId).json({ runId });
  });

  router.post('/:sessionId/branch', async (request, response) => {
    const { checkpointId, messageIndex, sessionId: newSessionId } = parseBody(BranchBody, request);
    const sessionId = parseSessionId(request);
    const { caller } = await findOwn(request, response, sessionId);
    const copy = await deps.executor.branch({
      sessionId,
      by: caller.userId,
      ...(checkpointId !== undefined && { checkpointId }),
      ...(messageIndex !== undefined && { messageIndex }),
      ...(newSessionId !== undefined && { newSessionId }),
    });
    // The reply is about the copy, which has no run yet.
    response.removeHeader(HEADERS.runId);
    response.status(201).set(HEADERS.sessionId, copy.sessionId).json(copy);
  });

  router.get('/:sessionId/checkpoints', async (request, response) => {
    const { limit, cursor } = parseQuery(CheckpointQuery, request);
    const sessionId = parseSessionId(request);
    await findOwn(request, response, sessionId);
    const page = await deps.stateStore.checkpoints.list(sessionId, {
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
    });
    response.set('cache-control', 'no-store').json(page);
  });

  return router;
}
