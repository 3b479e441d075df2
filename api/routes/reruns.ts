import { randomUUID } from 'node:crypto';
import { Router } from 'express';
import { findSession, requireAddressable, type Caller } from '../../ai-sdk/index.js';
import { HelixError } from '../../protocol/errors.js';
import { toShownSessionId } from '../../protocol/ids.js';
import { BranchBody, CheckpointQuery, HEADERS, RetryBody } from '../../protocol/http.js';
import type { ApiDeps } from '../deps.js';
import type { LoadOwnSession } from '../session-access.js';
import { parseBody, parseQuery, parseSessionId } from '../validate.js';

/** Doing turns again, and the points to which a conversation can go back. */
export function createRerunRoutes(deps: ApiDeps, loadOwnSession: LoadOwnSession): Router {
  const router = Router();

  router.post('/:sessionId/retry', async (request, response) => {
    const { checkpointId, messageId } = parseBody(RetryBody, request);
    const sessionId = parseSessionId(request);
    const { record, caller } = await loadOwnSession(request, response, sessionId);
    requireAddressable(deps.agents, record.agent);
    const { runId } = await deps.executor.retry({
      sessionId: record.sessionId,
      by: caller.userId,
      ...(checkpointId !== undefined && { checkpointId }),
      ...(messageId !== undefined && { messageId }),
    });
    response.status(202).set(HEADERS.runId, runId).json({ runId });
  });

  router.post('/:sessionId/branch', async (request, response) => {
    const { checkpointId, messageIndex, sessionId: chosen } = parseBody(BranchBody, request);
    const sessionId = parseSessionId(request);
    const { record, caller } = await loadOwnSession(request, response, sessionId);
    const newSessionId = await addressCopy(chosen ?? `s-${randomUUID()}`, caller);
    const copy = await deps.executor.branch({
      sessionId: record.sessionId,
      by: caller.userId,
      ...(checkpointId !== undefined && { checkpointId }),
      ...(messageIndex !== undefined && { messageIndex }),
      newSessionId,
    });
    // The reply is about the copy, which has no run yet.
    response.removeHeader(HEADERS.runId);
    const shown = toShownSessionId(copy.sessionId);
    response
      .status(201)
      .set(HEADERS.sessionId, shown)
      .json({ ...copy, sessionId: shown });
  });

  router.get('/:sessionId/checkpoints', async (request, response) => {
    const { limit, cursor } = parseQuery(CheckpointQuery, request);
    const sessionId = parseSessionId(request);
    const { record } = await loadOwnSession(request, response, sessionId);
    const page = await deps.stateStore.checkpoints.list(record.sessionId, {
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
    });
    response.set('cache-control', 'no-store').json(page);
  });

  return router;

  /** Where a copy goes. @throws HelixError `session_exists`, also for one of before under the bare id */
  async function addressCopy(sessionId: string, caller: Caller): Promise<string> {
    const { storedId, record } = await findSession(deps.stateStore, sessionId, caller);
    if (record === undefined) return storedId;
    throw new HelixError('session_exists', 'There is a session of that id.', {
      detail: { sessionId },
    });
  }
}
