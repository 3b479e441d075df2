import { randomUUID } from 'node:crypto';
import type { AgentExecutor } from '../../runs/executor.js';
import { HelixError } from '../../protocol/errors.js';
import type { CustomState } from '../../store/contract/documents.js';
import type { Store } from '../../store/contract/store.js';
import { ConfigurationError, StreamFailedError, ValidationError } from '../parts/errors.js';
import { findOwnSession, toCaller, type Caller } from './access.js';
import { extractResumePosition } from './attach-turn.js';
import { handleChatStream, toProblem } from './handle-chat-stream.js';
import { getUIMessages, type LoadUIMessagesOptions, type UIMessagePage } from './load-messages.js';
import type { HandleChatStreamDeps } from './types.js';

export type FrontendHandlerDeps = Omit<HandleChatStreamDeps, 'executor' | 'agent' | 'agents'> & {
  executor: Pick<AgentExecutor, 'execute' | 'runs'>;
  agent: Parameters<AgentExecutor['execute']>[0];
  stateStore: Pick<Store, 'sessions' | 'files'>;
  /** Must be empty: pages show what history stores. Your own streams use `StreamTransformer`. */
  transformerOptions?: object | undefined;
  /** Ignored: failures are thrown with their cause. */
  logger?: unknown;
};

/** A request to begin or follow a run. Without `userId` it comes from the anonymous user. */
export type FrontendRequest = Partial<Pick<Caller, 'userId' | 'tenantId'>> &
  (
    | { method: 'POST'; body: { message: string; state?: CustomState; sessionId?: string } }
    /** `streamId` is the conversation's id, from the first reply's header `x-session-id`. */
    | { method: 'GET'; streamId: string; resumeAt?: number | string | null | undefined }
  );

export interface FrontendResponse {
  status: number;
  headers: Record<string, string>;
  body: Response['body'];
}

export interface FrontendHandler {
  /**
   * A POST begins a conversation or, with `sessionId`, its next turn. A GET follows the newest
   * turn: 204 if there is nothing to follow, 410 if it failed.
   *
   * @throws ValidationError if a field is missing
   */
  handleRequest: (request: FrontendRequest) => Promise<FrontendResponse>;
  getMessages: (sessionId: string, options?: LoadUIMessagesOptions) => Promise<UIMessagePage>;
}

/**
 * Creates the handler that the Helix packages had before `handleChatStream`, for pages that post
 * one text.
 *
 * @example
 * import { createFrontendHandler, type FrontendHandlerDeps } from 'helix-temporal/ai-sdk';
 *
 * declare const deps: FrontendHandlerDeps;
 *
 * const handler = createFrontendHandler(deps);
 * const { status, headers, body } = await handler.handleRequest({ method: 'POST', body: { message: 'Hello' } });
 * export const response = new Response(body, { status, headers });
 */
export function createFrontendHandler(input: FrontendHandlerDeps): FrontendHandler {
  const { transformerOptions = {}, ...deps } = input;
  if (Object.keys(transformerOptions).length > 0) {
    throw new ConfigurationError(
      'createFrontendHandler takes no transformerOptions; use a StreamTransformer.',
    );
  }
  async function respond(request: FrontendRequest): Promise<Response> {
    const { userId, tenantId } = request;
    if (request.method === 'POST') {
      // JavaScript hosts pass on the posted body unchecked.
      const body = request.body as Partial<typeof request.body> | undefined;
      const { message, state, sessionId = randomUUID() } = body ?? {};
      if (typeof message !== 'string' || message === '')
        throw new ValidationError('body.message is required.');
      const options = { sessionId, userId, tenantId };
      await deps.executor.execute(deps.agent, { message, state }, options);
      // The run may have ended already, so its turn is replayed from the beginning.
      return handleChatStream(deps, { ...options, messages: [], resumeFromSequence: 0 });
    }
    const { streamId, resumeAt } = request;
    if (typeof streamId !== 'string' || streamId === '')
      throw new ValidationError('streamId is required.');
    const record = await findOwnSession(deps.stateStore, streamId, toCaller(request));
    if (record?.stream === 'failed') {
      const { message: error, code, statusCode: status } = new StreamFailedError();
      return Response.json({ error, code }, { status });
    }
    const headers = new Headers();
    const position = typeof resumeAt === 'string' ? extractResumePosition(resumeAt) : resumeAt;
    if (position != null) headers.set('last-event-id', String(position));
    const params = { sessionId: streamId, messages: [], userId, tenantId };
    return handleChatStream(deps, { ...params, request: { method: 'GET', headers } });
  }
  return {
    handleRequest: async (request) => {
      const { status, headers, body } = await respond(request).catch(refuse);
      return { status, headers: Object.fromEntries(headers), body };
    },
    getMessages: (sessionId, options) =>
      getUIMessages(deps, { sessionId, follows: true, ...options }),
  };
}

function refuse(error: unknown): Response {
  if (!HelixError.isInstance(error)) throw error;
  return Response.json(toProblem(error), { status: error.statusCode });
}
