import { Router } from 'express';
import type { Request, Response } from 'express';
import {
  decideReply,
  StreamBrokenError,
  toReplyHeaders,
  type HandleChatStreamParams,
} from '../../ai-sdk/index.js';
import { HelixError } from '../../protocol/errors.js';
import { ChatQuery, ChatRequest, HEADERS } from '../../protocol/http.js';
import type { ApiDeps } from '../deps.js';
import type { ReadIdentity } from '../identity.js';
import { pipeToExpress } from '../pipe-to-express.js';
import { readSnapshotCookie } from '../snapshot-cookie.js';
import { parseBody, parseQuery, parseSessionId } from '../validate.js';

/** The chat itself: `POST` says something or answers a call, `GET` follows the turn at work. */
export function createChatRoutes(deps: ApiDeps, readIdentity: ReadIdentity): Router {
  const router = Router();
  router.post('/', async (request, response) => {
    const body = takeBody(request);
    const { id } = body;
    if (id === undefined) throw new HelixError('validation_error', 'The body needs an id.');
    response.set(toReplyHeaders(id));
    await say(request, response, id, body);
  });
  router.post('/:sessionId', async (request, response) => {
    await say(request, response, parseSessionId(request), takeBody(request));
  });
  router.get('/:sessionId', follow);
  router.get('/:sessionId/stream', follow);
  return router;

  async function say(
    request: Request,
    response: Response,
    sessionId: string,
    body: ChatRequest,
  ): Promise<void> {
    const query = parseQuery(ChatQuery, request);
    if (body.id !== undefined && body.id !== sessionId) {
      throw new HelixError('validation_error', "The body's id is not the id of the path.");
    }
    const messages = body.messages ?? (body.message === undefined ? [] : [body.message]);
    await answer(request, response, {
      sessionId,
      messages,
      trigger: body.trigger,
      messageId: body.messageId,
      agent: body.agent ?? query.agent,
      busy: body.busy ?? query.busy,
    });
  }

  async function follow(request: Request, response: Response): Promise<void> {
    await answer(request, response, {
      sessionId: parseSessionId(request),
      messages: [],
      sawActiveSince: readSnapshotCookie(request),
    });
  }

  async function answer(
    request: Request,
    response: Response,
    asked: HandleChatStreamParams,
  ): Promise<void> {
    const { sessionId } = asked;
    response.set(toReplyHeaders(sessionId));
    const { userId, tenantId, revoked } = await readIdentity(request);
    const reply = await decideReply(deps, {
      ...asked,
      userId,
      tenantId,
      request: { method: request.method, headers: toHeaders(request) },
    });
    const headers = toReplyHeaders(sessionId, reply);
    response.set(headers);
    if (reply.kind === 'refused') throw reply.error;
    if (reply.kind === 'nothing') {
      response.status(204).end();
      return;
    }
    const { keepAliveMs, metrics } = deps;
    try {
      const meter = metrics?.streams;
      await pipeToExpress(reply.frames, response, { headers, keepAliveMs, meter, revoked });
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

/** What was posted, of which no more is kept than what is used: a reply may take hours. */
function takeBody(request: Request): ChatRequest {
  const body = parseBody(ChatRequest, request);
  request.body = undefined;
  return body;
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
