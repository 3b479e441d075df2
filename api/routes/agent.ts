import { randomUUID } from 'node:crypto';
import { Router } from 'express';
import type { Request, Response } from 'express';
import {
  findSession,
  isAddressable,
  requireAddressable,
  isOwner,
  notFound,
  toReplyHeaders,
  toUserMessages,
  type Caller,
} from '../../ai-sdk/index.js';
import { findRunOf } from '../../executor/create-agent-executor.js';
import { readState } from '../../executor/agent-input.js';
import { toBeginRefusal } from '../../executor/begin-refusal.js';
import {
  AgentEventsQuery,
  AgentTarget,
  ResumeAgentBody,
  StartAgentBody,
  StopAgentBody,
  type AgentStarted,
  type UserInputMessage,
} from '../../protocol/agent-server.js';
import { parseToolAnswer, toAnswerError } from '../../protocol/answers.js';
import { HelixError } from '../../protocol/errors.js';
import { toShownSessionId } from '../../protocol/ids.js';
import { HEADERS, type PostedMessage } from '../../protocol/http.js';
import type { StopMode } from '../../protocol/run.js';
import { createAgentEvents } from '../agent-events.js';
import { toAgentStatus } from '../agent-status.js';
import type { ApiDeps } from '../deps.js';
import type { ReadIdentity } from '../identity.js';
import type { LoadOwnSession } from '../session-access.js';
import { pipeToExpress } from '../pipe-to-express.js';
import { parseBody, parseQuery } from '../validate.js';

/** The agent-server surface: for programs, and for agents that delegate to this one. */
export function createAgentRoutes(
  deps: ApiDeps,
  readIdentity: ReadIdentity,
  loadOwnSession: LoadOwnSession,
): Router {
  const { executor, stateStore: store, streamManager } = deps;
  const router = Router();

  router.post('/start', async (request, response) => {
    const body = parseBody(StartAgentBody, request);
    const caller = await readIdentity(request);
    const { sessionId = `s-${randomUUID()}` } = body;
    reply(response, await start(response, sessionId, body, caller));
  });

  router.post('/resume', async (request, response) => {
    const body = parseBody(ResumeAgentBody, request);
    const { record, caller } = await loadOwnSession(request, response, body.sessionId);
    const { message } = body;
    if (message !== undefined) {
      reply(response, await start(response, body.sessionId, { message }, caller));
      return;
    }
    requireAddressable(deps.agents, record.agent);
    // Answers make a run go on by themselves: one that has not ended is left alone.
    const { mode, checkpointId, messageId } = body;
    const { sessionId } = record;
    if (mode === 'retry') {
      const named = messageId === undefined ? {} : { messageId };
      const run = await executor.retry({ sessionId, by: caller.userId, ...named });
      reply(response, toStarted(sessionId, run.runId));
      return;
    }
    const result = await executor.resume({
      sessionId,
      by: caller.userId,
      ...(mode !== undefined && { mode }),
      ...(checkpointId !== undefined && { checkpointId }),
    });
    const { runId } = result.kind === 'resumed' ? result.run : result;
    reply(response, toStarted(sessionId, runId));
  });

  router.post('/submit-tool-result', async (request, response) => {
    const target = parseBody(AgentTarget, request);
    const { record, caller } = await loadOwnSession(request, response, target.sessionId);
    const answer = parseToolAnswer({ ...(request.body as object), by: caller.userId });
    const result = await executor.submitToolResult({ ...answer, sessionId: record.sessionId });
    if (result.kind !== 'stored') throw toAnswerError(result.kind);
    const { sessionId, toolCallId } = answer;
    const resumed = result.resume !== undefined;
    response.status(202).json({ sessionId, toolCallId, resumed });
  });

  router.post('/interrupt', (request, response) => stop(request, response, 'interrupt'));
  router.post('/abort', (request, response) => stop(request, response, 'abort'));

  router.get('/status', async (request, response) => {
    const target = parseQuery(AgentTarget, request);
    const { record } = await loadOwnSession(request, response, target.sessionId);
    const { deadline = Infinity } = record;
    if (deadline <= Date.now()) await executor.expireCalls(record.sessionId);
    const view = await store.sessions.view(record.sessionId);
    if (view === undefined) throw notFound();
    response.set('cache-control', 'no-store').json(toAgentStatus(view));
  });

  router.get('/sse', async (request, response) => {
    const { sessionId, fromSequence } = parseQuery(AgentEventsQuery, request);
    const { record, caller } = await loadOwnSession(request, response, sessionId);
    const from = readCursor(request, fromSequence) ?? record.turnStartSequence;
    if (from > record.sequence) {
      throw new HelixError('rewound', 'This stream has not come that far.');
    }
    const { keepAliveMs, metrics } = deps;
    try {
      await pipeToExpress(
        (signal) => createAgentEvents(streamManager, record, from, signal),
        response,
        {
          headers: toReplyHeaders(record.sessionId, record),
          keepAliveMs,
          meter: metrics?.streams,
          until: caller.expiresAt,
          revoked: caller.revoked,
        },
      );
    } catch (error) {
      // The reader was cut and comes back with its cursor; nothing is lost.
      deps.logger.info({ err: error, sessionId: record.sessionId }, 'a stream was cut');
    }
  });

  return router;

  async function start(
    response: Response,
    sessionId: string,
    body: StartAgentBody,
    caller: Caller,
  ): Promise<AgentStarted> {
    const { storedId, record: known } = await findSession(store, sessionId, caller);
    if (known !== undefined && !isOwner(known, caller)) throw notFound();
    response.set(toReplyHeaders(sessionId, known));
    const agent = body.agent ?? body.agentType ?? known?.agent ?? deps.defaultAgent;
    if (agent === undefined) throw new HelixError('agent_required', 'Name an agent.');
    if (!isAddressable(deps.agents, agent)) {
      throw new HelixError('agent_not_found', 'There is no agent of that name.');
    }
    const { allowedFileHosts } = deps;
    const messages = toUserMessages(toPosted(body), { metadata: body.metadata, allowedFileHosts });
    const definition = deps.agents.get?.(agent, { sessionId: storedId, userId: caller.userId });
    const { state } = body;
    const result = await executor.execute({
      sessionId: storedId,
      agent,
      owner: caller.userId,
      ...(caller.tenantId !== undefined && { tenant: caller.tenantId }),
      messages,
      ...(state !== undefined && { state: definition ? readState(definition, state) : state }),
    });
    if (result.kind === 'begun') return toStarted(sessionId, result.run.runId);
    if (result.kind !== 'accepted') throw toBeginRefusal(sessionId, result);
    return toStarted(sessionId, await findRunOf(store, storedId, messages.at(-1)?.id ?? ''));
  }

  async function stop(request: Request, response: Response, mode: StopMode): Promise<void> {
    const { sessionId, reason } = parseBody(StopAgentBody, request);
    const { record, caller } = await loadOwnSession(request, response, sessionId);
    const said = reason === undefined ? {} : { reason };
    const stopped = await executor.stop(record.sessionId, { mode, ...said, by: caller.userId });
    response.status(202).json({ result: stopped.kind, runId: record.runId });
  }
}

function reply(response: Response, started: AgentStarted): void {
  response.status(202).set(toHeaders(started)).json(started);
}

function toStarted(storedId: string, runId: string): AgentStarted {
  const sessionId = toShownSessionId(storedId);
  return { sessionId, streamId: sessionId, runId };
}

function toHeaders({ sessionId, runId }: { sessionId: string; runId: string }) {
  return { [HEADERS.sessionId]: sessionId, [HEADERS.runId]: runId };
}

/** The messages of a body, as a chat client would post them. */
function toPosted({ message, input, messageId }: StartAgentBody): PostedMessage[] {
  const said = message ?? input ?? [];
  if (typeof said === 'string') return [toPostedMessage({ content: said, id: messageId })];
  return (Array.isArray(said) ? said : [said]).map(toPostedMessage);
}

function toPostedMessage({ id, content, parts, metadata }: UserInputMessage): PostedMessage {
  return {
    role: 'user',
    id: id ?? randomUUID(),
    ...(parts === undefined ? { content: content ?? '' } : { parts }),
    ...(metadata && { metadata }),
  };
}

/** Where a reader stands: the id of the newest event that it has, or what it asks for. */
function readCursor(request: Request, asked: string | undefined): number | undefined {
  const said = request.get(HEADERS.lastEventId) ?? asked;
  if (said === undefined || said === '') return undefined;
  const cursor = Number(said);
  if (Number.isSafeInteger(cursor) && cursor >= 0) return cursor;
  throw new HelixError('validation_error', 'The cursor must be a sequence.');
}
