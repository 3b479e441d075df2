import { Router } from 'express';
import type { Response } from 'express';
import {
  buildPastSnapshot,
  buildSnapshot,
  loadUIMessages,
  notFound,
  toReplyHeaders,
} from '../../ai-sdk/index.js';
import {
  HEADERS,
  MessagesQuery,
  SnapshotQuery,
  StopBody,
  type MessagesReply,
} from '../../protocol/http.js';
import type { ApiDeps } from '../deps.js';
import type { ReadIdentity } from '../identity.js';
import type { LoadOwnSession } from '../session-access.js';
import { pipeToExpress } from '../pipe-to-express.js';
import { createSessionEvents } from '../session-events.js';
import { writeSnapshotCookie } from '../snapshot-cookie.js';
import { parseBody, parseQuery, parseSessionId } from '../validate.js';

/** What can be asked of one session beside talking to it. */
export function createSessionRoutes(
  deps: ApiDeps,
  readIdentity: ReadIdentity,
  loadOwnSession: LoadOwnSession,
): Router {
  const router = Router();

  router.get('/:sessionId/snapshot', async (request, response) => {
    const sessionId = parseSessionId(request);
    const caller = await readIdentity(request);
    const { checkpointId, includePartialContent } = parseQuery(SnapshotQuery, request);
    if (checkpointId !== undefined) {
      await loadOwnSession(request, response, sessionId);
      const past = await buildPastSnapshot(deps, { sessionId, checkpointId, caller });
      if (past === null) throw notFound();
      response.set('cache-control', 'no-store').json(past);
      return;
    }
    const snapshot = await buildSnapshot(deps, {
      sessionId,
      caller,
      includePartialContent: includePartialContent === 'true',
    });
    if (snapshot === null) throw notFound();
    writeSnapshotCookie(request, response, sessionId, snapshot);
    if (snapshot.run !== undefined) response.set(HEADERS.runId, snapshot.run.runId);
    response.set('cache-control', 'no-store').json(snapshot);
  });

  router.get('/:sessionId/messages', async (request, response: Response<MessagesReply>) => {
    const sessionId = parseSessionId(request);
    const { hidden, ...page } = parseQuery(MessagesQuery, request);
    const { record } = await loadOwnSession(request, response, sessionId);
    const options = { ...page, filterHidden: hidden !== 'true' };
    response.set('cache-control', 'no-store');
    response.json(await loadUIMessages(deps.stateStore, record.sessionId, options));
  });

  router.post('/:sessionId/stop', async (request, response) => {
    const sessionId = parseSessionId(request);
    const { mode, reason } = parseBody(StopBody, request);
    const { record, caller } = await loadOwnSession(request, response, sessionId);
    const said = reason === undefined ? {} : { reason };
    const stop = await deps.executor.stop(record.sessionId, { mode, ...said, by: caller.userId });
    response.status(202).json({ result: stop.kind, runId: record.runId });
  });

  router.get('/:sessionId/events', async (request, response) => {
    const sessionId = parseSessionId(request);
    const { record, caller } = await loadOwnSession(request, response, sessionId);
    const headers = toReplyHeaders(sessionId, record);
    const { keepAliveMs, metrics } = deps;
    try {
      await pipeToExpress(
        (signal) => createSessionEvents(deps, record.sessionId, signal),
        response,
        {
          headers,
          keepAliveMs,
          meter: metrics?.streams,
          until: caller.expiresAt,
          revoked: caller.revoked,
        },
      );
    } catch (error) {
      // The reader was cut and comes back; it is told how things stand then.
      deps.logger.info({ err: error, sessionId }, 'a stream was cut');
    }
  });

  router.delete('/:sessionId', async (request, response) => {
    const sessionId = parseSessionId(request);
    const { record, caller } = await loadOwnSession(request, response, sessionId);
    await deps.executor.deleteSession(record.sessionId, caller.userId);
    deps.logger.info({ sessionId, by: caller.userId }, 'a conversation was erased');
    response.status(204).end();
  });

  return router;
}
