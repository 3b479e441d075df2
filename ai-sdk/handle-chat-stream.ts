import { HelixError } from '../protocol/errors.js';
import { isSessionId } from '../protocol/ids.js';
import { HEADERS, type ProblemBody } from '../protocol/http.js';
import type { ChatDeps, ChatReply, HandleChatStreamParams } from './chat-reply.js';
import { decideReply } from './decide-reply.js';
import { buildSSEResponse } from './sse.js';

/**
 * Answers a chat request as a web response: an SSE body, 204 when there is nothing to follow, or a
 * refusal as `{ error, code }`. A reader that goes away never stops the run.
 *
 * @throws whatever is no HelixError; its text is not for clients
 */
export async function handleChatStream(
  deps: ChatDeps,
  params: HandleChatStreamParams,
): Promise<Response> {
  try {
    const reply = await decideReply(deps, params);
    const headers = toReplyHeaders(params.sessionId, reply);
    if (reply.kind === 'nothing') return new Response(null, { status: 204, headers });
    const reader = new AbortController();
    const leave = (): void => {
      reader.abort();
    };
    params.request?.signal?.addEventListener('abort', leave, { once: true });
    return buildSSEResponse(reply.frames(reader.signal), { headers, onCancel: leave });
  } catch (error) {
    if (!HelixError.isInstance(error)) throw error;
    const headers = toReplyHeaders(params.sessionId);
    return Response.json(toProblem(error), { status: error.statusCode, headers });
  }
}

/** Headers that name what a reply is about. */
export function toReplyHeaders(sessionId: string, reply?: ChatReply): Record<string, string> {
  const runId = reply?.kind === 'stream' ? reply.runId : undefined;
  // An id that is none may not even be a legal header.
  return {
    ...(isSessionId(sessionId) && { [HEADERS.sessionId]: sessionId }),
    ...(runId !== undefined && { [HEADERS.runId]: runId }),
  };
}

/** The body of a refusal. */
export function toProblem({ message, code, detail }: HelixError): ProblemBody {
  return { error: message, code, ...(detail !== undefined && { detail }) };
}
