import { Router } from 'express';
import { toAnswerError } from '../../protocol/answers.js';
import { HelixError } from '../../protocol/errors.js';
import { AnswerBody, CallPath, ExtendBody, LeaseBody } from '../../protocol/http.js';
import type { ApiDeps } from '../deps.js';
import type { LoadOwnSession } from '../session-access.js';
import { parseBody, parsePath } from '../validate.js';

/** Answers from anywhere: an inbox, another device. The run goes on whether or not a chat is open. */
export function createAnswerRoutes(deps: ApiDeps, loadOwnSession: LoadOwnSession): Router {
  const router = Router();

  router.post('/:sessionId/pending/:toolCallId', async (request, response) => {
    const { sessionId, toolCallId } = parsePath(CallPath, request);
    const body = parseBody(AnswerBody, request);
    const { record, caller } = await loadOwnSession(request, response, sessionId);
    const answer = {
      sessionId: record.sessionId,
      toolCallId,
      by: caller.userId,
      ...toAnswer(body),
    };
    const result = await deps.executor.submitToolResult(answer);
    if (result.kind !== 'stored') throw toAnswerError(result.kind);
    const { sequence, resume } = result;
    response.status(202).json({ result: 'stored', sequence, resumed: resume !== undefined });
  });

  router.post('/:sessionId/pending/:toolCallId/extend', async (request, response) => {
    const { sessionId, toolCallId } = parsePath(CallPath, request);
    const { byMs } = parseBody(ExtendBody, request);
    const { record, caller } = await loadOwnSession(request, response, sessionId);
    const call = { sessionId: record.sessionId, toolCallId };
    const result = await deps.executor.extendDeadline({ ...call, byMs });
    if (result.kind !== 'extended') throw toAnswerError(result.kind);
    const { deadline } = result;
    deps.logger.info({ sessionId, toolCallId, byMs, by: caller.userId }, 'a deadline was put off');
    response.status(202).json({ result: 'extended', deadline });
  });

  router.post('/:sessionId/pending/:toolCallId/lease', async (request, response) => {
    const { sessionId, toolCallId } = parsePath(CallPath, request);
    const { holder, forMs } = parseBody(LeaseBody, request);
    const { record } = await loadOwnSession(request, response, sessionId);
    const call = { sessionId: record.sessionId, toolCallId };
    const result = await deps.executor.leaseCall({ ...call, holder, forMs });
    if (result.kind === 'held') {
      const detail = { forMs: result.forMs };
      throw new HelixError('call_leased', 'Another page carries out this call.', { detail });
    }
    if (result.kind !== 'leased') throw toAnswerError(result.kind);
    response.json({ result: 'leased', forMs });
  });

  return router;
}

function toAnswer(body: AnswerBody): object {
  if ('approved' in body) return { kind: 'approval-response', ...body };
  return { kind: 'client-tool-result', ...body };
}
