import { Router } from 'express';
import type { Request, Response } from 'express';
import {
  decideReply,
  StreamBrokenError,
  toReplyHeaders,
  type HandleChatStreamParams,
} from '../../ai-sdk/index.js';
import { BusyPolicy } from '../../protocol/busy.js';
import { HelixError } from '../../protocol/errors.js';
import { ChatRequest, HEADERS } from '../../protocol/http.js';
import type { ApiDeps } from '../deps.js';
import type { ReadIdentity } from '../identity.js';
import { pipeToExpress } from '../pipe-to-express.js';
import { readSnapshotMemory } from '../snapshot-memory.js';
import { parseBody, parseSessionId, readQuery } from '../validate.js';

/** The chat itself: `POST` says something or answers a call, `GET` follows the turn at work. */
export function createChatRoutes(deps: ApiDeps, readIdentity: ReadIdentity): Router {
  const router = Router();
  router.post(['/', '/:sessionId'], async (request, response) => {
    const body = parseBody(ChatRequest, request);
    const sessionId = parseSessionId(request.params['sessionId'] ?? body.id);
    if (body.id !== undefined && body.id !== sessionId) {
      throw new HelixError('validation_error', "The body's id is not the id of the path.");
    }
    const messages = body.messages ?? (body.message === undefined ? [] : [body.message]);
    await answer(request, response, {
      sessionId,
      messages,
      trigger: body.trigger,
      messageId: body.messageId,
      agent: body.agent ?? readQuery(request, 'agent'),
      busy: body.busy ?? readBusyPolicy(request),
    });
  });
  router.get(['/:sessionId', '/:sessionId/stream'], async (request, response) => {
    await answer(request, response, {
      sessionId: parseSessionId(request.params['sessionId']),
      messages: [],
      sawActiveSince: readSnapshotMemory(request),
    });
  });
  return router;

  async function answer(
    request: Request,
    response: Response,
    asked: HandleChatStreamParams,
  ): Promise<void> {
    const { sessionId } = asked;
    response.set(toReplyHeaders(sessionId));
    const reply = await decideReply(deps, {
      ...asked,
      ...(await readIdentity(request)),
      request: { method: request.method, headers: toHeaders(request) },
    });
    const headers = toReplyHeaders(sessionId, reply);
    response.set(headers);
    if (reply.kind === 'refused') throw reply.error;
    if (reply.kind === 'nothing') {
      response.status(204).end();
      return;
    }
    const { keepAliveMs } = deps;
    try {
      const pace = keepAliveMs === undefined ? {} : { keepAliveMs };
      await pipeToExpress(reply.frames, response, { headers, ...pace });
    } catch (error) {
      // The reader was cut and comes back; nothing is lost.
      if (error instanceof StreamBrokenError) {
        deps.logger.info({ sessionId, reason: error.message }, 'a stream was cut');
      } else {
        deps.logger.warn({ err: error, sessionId }, 'a stream was cut');
      }
    }
  }
}

function readBusyPolicy(request: Request): BusyPolicy | undefined {
  const given = readQuery(request, 'busy');
  const policy = BusyPolicy.optional().safeParse(given);
  if (policy.success) return policy.data;
  const choices = BusyPolicy.options.join(', ');
  throw new HelixError('validation_error', `The query parameter "busy" is one of ${choices}.`);
}

/** Those headers that the bridge reads. */
function toHeaders(request: Request): Headers {
  const headers = new Headers();
  for (const name of Object.values(HEADERS)) {
    const value = request.get(name);
    if (value !== undefined) headers.set(name, value);
  }
  return headers;
}
