import { Router } from 'express';
import type { Request } from 'express';
import { readOwned, type Caller } from '../../ai-sdk/index.js';
import { BranchBody, CheckpointQuery, HEADERS, RetryBody } from '../../protocol/http.js';
import type { SessionRecord } from '../../stores/session-store.js';
import type { ApiDeps } from '../deps.js';
import type { ReadIdentity } from '../identity.js';
import { parseBody, parseQuery, parseSessionId } from '../validate.js';

/** Doing turns again, and the points to which a conversation can go back. */
export function createRerunRoutes(deps: ApiDeps, readIdentity: ReadIdentity): Router {
  const router = Router();

  router.post('/:sessionId/retry', async (request, response) => {
    const { checkpointId, messageId } = parseBody(RetryBody, request);
    const { record, caller } = await find(request);
    const { runId } = await deps.executor.retry({
      sessionId: record.sessionId,
      by: caller.userId,
      ...(checkpointId !== undefined && { checkpointId }),
      ...(messageId !== undefined && { messageId }),
    });
    const { sessionId } = record;
    response.status(202).set({ [HEADERS.sessionId]: sessionId, [HEADERS.runId]: runId });
    response.json({ runId });
  });

  router.post('/:sessionId/branch', async (request, response) => {
    const { checkpointId, messageIndex, sessionId } = parseBody(BranchBody, request);
    const { record, caller } = await find(request);
    const copy = await deps.executor.branch({
      sessionId: record.sessionId,
      by: caller.userId,
      ...(checkpointId !== undefined && { checkpointId }),
      ...(messageIndex !== undefined && { messageIndex }),
      ...(sessionId !== undefined && { newSessionId: sessionId }),
    });
    response.status(201).set(HEADERS.sessionId, copy.sessionId).json(copy);
  });

  router.get('/:sessionId/checkpoints', async (request, response) => {
    const { limit, cursor } = parseQuery(CheckpointQuery, request);
    const { record } = await find(request);
    const page = await deps.stateStore.listCheckpoints(record.sessionId, {
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
    });
    response.set('cache-control', 'no-store').json(page);
  });

  return router;

  /** @throws HelixError `not_found`, to strangers as well */
  async function find(request: Request): Promise<{ record: SessionRecord; caller: Caller }> {
    const caller = await readIdentity(request);
    return { record: await readOwned(deps.stateStore, parseSessionId(request), caller), caller };
  }
}
