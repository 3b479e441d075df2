import type { HelixError } from '../protocol/errors.js';
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
  const reply = await decideReply(deps, params);
  const headers = toReplyHeaders(params.sessionId, reply);
  switch (reply.kind) {
    case 'nothing':
      return new Response(null, { status: 204, headers });
    case 'refused': {
      const { error } = reply;
      return Response.json(toProblem(error), { status: error.statusCode, headers });
    }
    case 'stream': {
      const reader = new AbortController();
      const leave = (): void => {
        reader.abort();
      };
      params.request?.signal?.addEventListener('abort', leave, { once: true });
      return buildSSEResponse(reply.frames(reader.signal), { headers, onCancel: leave });
    }
  }
}

/** Headers that name what a reply is about. */
export function toReplyHeaders(
  sessionId: string,
  { runId }: Pick<ChatReply, 'runId'> = {},
): Record<string, string> {
  return {
    // What is no session id may not even be a legal header.
    ...(isSessionId(sessionId) && { [HEADERS.sessionId]: sessionId }),
    ...(runId !== undefined && { [HEADERS.runId]: runId }),
  };
}

/** The body of a refusal. */
export function toProblem({ message, code, detail }: HelixError): ProblemBody {
  return { error: message, code, ...(detail !== undefined && { detail }) };
}
