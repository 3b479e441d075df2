import { z } from 'zod';
import type { HelixError } from '../../protocol/errors.js';
import { HEADERS, isStoredSessionId, toShownSessionId } from '../../protocol/ids.js';
import { PostedTail } from '../../protocol/http.js';
import type { ProblemBody } from '../../protocol/replies.js';
import { ExecutionError } from '../parts/errors.js';
import { buildFramesResponse } from '../parts/sse.js';
import { decideReply } from './decide-reply.js';
import { invalid } from './refusals.js';
import {
  toChatDeps,
  type ChatReply,
  type HandleChatStreamDeps,
  type HandleChatStreamParams,
} from './types.js';

/**
 * Answers a chat request with an SSE body, a refusal as `{ error, code }`, or 204 if there is
 * nothing to follow. A reader that leaves never stops the run.
 *
 * @throws ConfigurationError if the deps name no agent; ExecutionError, with its cause, for failures
 * that are not refusals
 */
export async function handleChatStream(
  deps: HandleChatStreamDeps,
  params: HandleChatStreamParams,
): Promise<Response> {
  const chat = toChatDeps(deps);
  const posted = Posted.safeParse(params);
  const reply: ChatReply = posted.success
    ? await decideReply(chat, { ...params, ...posted.data }).catch((cause: unknown): never => {
        throw new ExecutionError(undefined, { cause });
      })
    : { kind: 'refused', error: invalid('The messages are not those of a chat.') };
  const headers = toReplyHeaders(params.sessionId, reply);
  switch (reply.kind) {
    case 'nothing':
      return new Response(null, { status: 204, headers });
    case 'refused': {
      const { error } = reply;
      return Response.json(toProblem(error), { status: error.statusCode, headers });
    }
    case 'stream':
      return buildFramesResponse(reply.frames, { headers, signal: params.request?.signal });
  }
}

/** Schema of the body's fields, which hosts pass on unchecked. */
const Posted = z.object({
  messages: PostedTail,
  trigger: z.string().optional(),
  messageId: z.string().optional(),
});

export function toReplyHeaders(
  sessionId: string,
  { runId }: Pick<ChatReply, 'runId'> = {},
): Record<string, string> {
  return {
    // A malformed session id may not be a legal header.
    ...(isStoredSessionId(sessionId) && { [HEADERS.sessionId]: toShownSessionId(sessionId) }),
    ...(runId !== undefined && { [HEADERS.runId]: runId }),
  };
}

export function toProblem({ message, code, detail }: HelixError): ProblemBody {
  return { error: message, code, detail: toShown(detail) };
}

/** Replaces a stored session id by the one that the client uses. */
function toShown(detail: unknown): unknown {
  if (typeof detail !== 'object' || detail === null || !('sessionId' in detail)) return detail;
  return { ...detail, sessionId: toShownSessionId(String(detail.sessionId)) };
}
