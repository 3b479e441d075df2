import { Router } from 'express';
import type { Request } from 'express';
import { buildPastSnapshot, buildSnapshot, isOwner, toReplyHeaders } from '../../ai-sdk/index.js';
import { HelixError } from '../../protocol/errors.js';
import { HEADERS, StopBody } from '../../protocol/http.js';
import type { ApiDeps } from '../deps.js';
import type { ReadIdentity } from '../identity.js';
import { writeSnapshotMemory } from '../snapshot-memory.js';
import { parseBody, parseSessionId, readQuery } from '../validate.js';

/** What can be asked of one session beside talking to it. */
export function createSessionRoutes(deps: ApiDeps, readIdentity: ReadIdentity): Router {
  const router = Router();

  router.get('/:sessionId/snapshot', async (request, response) => {
    const sessionId = readSessionId(request);
    response.set(toReplyHeaders(sessionId));
    const caller = await readIdentity(request);
    const checkpointId = readQuery(request, 'checkpointId');
    if (checkpointId !== undefined) {
      const past = await buildPastSnapshot(deps, { sessionId, checkpointId, caller });
      if (past === null) throw notFound();
      response.set('cache-control', 'no-store').json(past);
      return;
    }
    const snapshot = await buildSnapshot(deps, { sessionId, caller });
    if (snapshot === null) throw notFound();
    writeSnapshotMemory(request, response, snapshot);
    if (snapshot.run !== undefined) response.set(HEADERS.runId, snapshot.run.runId);
    response.set('cache-control', 'no-store').json(snapshot);
  });

  router.post('/:sessionId/stop', async (request, response) => {
    const sessionId = readSessionId(request);
    response.set(toReplyHeaders(sessionId));
    const { mode, reason } = parseBody(StopBody, request);
    const caller = await readIdentity(request);
    const record = await deps.store.readRecord(sessionId);
    if (record === undefined || !isOwner(record, caller)) throw notFound();
    const said = reason === undefined ? {} : { reason };
    const stop = await deps.executor.stop(sessionId, { mode, ...said, by: caller.userId });
    response
      .status(202)
      .set(HEADERS.runId, record.runId)
      .json({ result: stop.kind, runId: record.runId });
  });

  return router;
}

function readSessionId(request: Request): string {
  return parseSessionId(request.params['sessionId']);
}

function notFound(): HelixError {
  return new HelixError('not_found', 'There is no such conversation.');
}
