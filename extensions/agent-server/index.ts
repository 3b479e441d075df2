import { randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';
import { judged, notFound, toReplyHeaders, toViewer } from '../../ai-sdk/index.js';
import {
  answerCall,
  defineRoute,
  inJson,
  nameOfRequest,
  NOT_TAKEN,
  resumeRun,
  retryRun,
  SESSION_AND_RUN,
  stopRun,
  streamReply,
  type Route,
} from '../../api/extension.js';
import {
  AgentEventsQuery,
  AgentStarted,
  AgentStatus,
  AgentTarget,
  ResumeAgentBody,
  StartAgentBody,
  StopAgentBody,
  SubmitToolResultBody,
  ToolResultTaken,
} from '../../protocol/agent-server.js';
import type { Extension } from '../../extension.js';
import { HelixError } from '../../protocol/errors.js';
import { HEADERS } from '../../protocol/ids.js';
import { StopReply } from '../../protocol/replies.js';
import type { StopMode } from '../../protocol/run.js';
import { createAgentEvents } from './events.js';
import { startAgent, toStarted, toAgentStatus } from './start-agent.js';

const STARTED = {
  202: {
    description: 'The active run.',
    content: { json: AgentStarted },
    headers: SESSION_AND_RUN,
  },
};
const BEGIN = [
  'not_found',
  'agent_not_found',
  'agent_required',
  'agent_mismatch',
  'agent_already_running',
  'message_conflict',
  'message_too_large',
  'queue_full',
  'quota_exceeded',
  'budget_exceeded',
  'nothing_to_do',
  'chunk_too_large',
  'message_not_found',
] as const;

/** Lets programs, and agents of other servers, start, follow and answer runs. */
export function agentServer(): Extension {
  return { name: 'agent-server', routes: AGENT_ROUTES };
}

const AGENT_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'post',
    path: '/api/agent/start',
    id: 'startAgent',
    audits: 'none',
    summary: 'Start a turn, in a new session unless one is named',
    body: StartAgentBody,
    replies: STARTED,
    refusals: BEGIN,
    isOnce: true,
    handle: async ({ deps, request, response, body, caller }) => {
      // A request that is repeated because its reply was lost names the same conversation and messages.
      const name = (await nameOfRequest(deps, request)) ?? randomUUID();
      const { sessionId = `s-${name}` } = body;
      sendStarted(response, await startAgent(deps, response, { sessionId, body, caller, name }));
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/agent/resume',
    id: 'resumeAgent',
    audits: 'act',
    summary: 'Resume an interrupted run, or run a turn again; an active run is left alone',
    access: 'owner',
    body: ResumeAgentBody,
    replies: STARTED,
    refusals: [...BEGIN, 'checkpoint_not_found', 'not_resumable', 'stale_run'],
    handle: async (call) => {
      const { deps, response, body, record, caller } = call;
      const { message, mode, checkpointId, messageId } = body;
      if (message !== undefined) {
        const start = { sessionId: body.sessionId, body: { message }, caller, name: randomUUID() };
        sendStarted(response, await startAgent(deps, response, start));
        return;
      }
      // A run that has not ended needs no resume: its answers wake it.
      const runId =
        mode === 'retry'
          ? await retryRun(call, record, { messageId })
          : await resumeRun(call, record, { mode, checkpointId });
      sendStarted(response, toStarted(record.sessionId, runId));
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/agent/submit-tool-result',
    id: 'submitToolResult',
    readsCall: true,
    audits: 'act',
    summary: 'Answer a pending call; the run continues without a resume',
    access: 'owner',
    body: SubmitToolResultBody,
    replies: inJson(202, 'The answer is stored.', ToolResultTaken, SESSION_AND_RUN),
    refusals: NOT_TAKEN,
    handle: async (call) => {
      const { sessionId, toolCallId } = call.body;
      const { resumed } = await answerCall(
        call,
        { record: call.record, call: call.asked },
        call.body,
      );
      const taken = { sessionId, toolCallId, resumed };
      call.response.status(202).json(taken satisfies ToolResultTaken);
    },
  }),
  defineStop('interrupt', 'interruptAgent', 'Stop the run; it can be resumed'),
  defineStop('abort', 'abortAgent', 'Stop the run; it cannot be resumed'),
  defineRoute({
    method: 'get',
    path: '/api/agent/status',
    id: 'getAgentStatus',
    audits: 'none',
    summary: 'Get the state of the newest run of a session',
    access: 'owner',
    query: AgentTarget,
    replies: inJson(200, 'Its state.', AgentStatus, SESSION_AND_RUN),
    handle: async ({ deps, response, record: { sessionId, deadline = Infinity }, caller }) => {
      if (deadline <= Date.now()) await deps.executor.expireCalls(sessionId);
      const { sessions } = deps.stateStore;
      const found = await sessions.withCalls(sessionId);
      if (found === undefined) throw notFound();
      const isHeld = await deps.executor.pauses.isHeld(found.record);
      const shown = await judged(deps, caller, found);
      const rows = await sessions.rows(sessionId, found.record.turnStartRow);
      response.json(toAgentStatus({ ...shown, rows }, { isHeld }));
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/agent/sse',
    id: 'followAgent',
    audits: 'none',
    summary: 'Follow the stream as wire events, across pauses, to the end of the run',
    access: 'owner',
    query: AgentEventsQuery,
    headers: ['lastEventId'],
    replies: {
      200: {
        description: 'Wire events.',
        content: { events: 'Frames `data: <event>` as JSON; ids are sequences.' },
        headers: SESSION_AND_RUN,
      },
    },
    refusals: ['rewound'],
    handle: async (call) => {
      const { deps, request, query, record, caller } = call;
      const from = readCursor(request, query.fromSequence) ?? record.turnStartSequence;
      if (from > record.sequence) {
        throw new HelixError('rewound', 'The stream has not reached this sequence.');
      }
      const { streamManager } = deps;
      const viewer = toViewer(deps, record.sessionId, caller);
      const follow = (signal: AbortSignal): AsyncIterable<string> =>
        createAgentEvents(streamManager, record, from, signal, viewer);
      await streamReply(call, follow, {
        sessionId: query.sessionId,
        headers: toReplyHeaders(record.sessionId, record),
        isEndless: true,
      });
    },
  }),
];

function defineStop(mode: StopMode, id: string, summary: string): Route {
  return defineRoute({
    method: 'post',
    path: `/api/agent/${mode}`,
    id,
    audits: 'act',
    summary,
    access: 'owner',
    body: StopAgentBody,
    replies: inJson(202, 'The effect of the stop.', StopReply, SESSION_AND_RUN),
    handle: (call) => {
      const { reason, runId } = call.body;
      return stopRun(call, call.record, { mode, reason, runId });
    },
  });
}

function sendStarted(response: Response, started: AgentStarted): void {
  const headers = { [HEADERS.sessionId]: started.sessionId, [HEADERS.runId]: started.runId };
  response.status(202).set(headers).json(started);
}

/** Reads the newest sequence that the reader has; a reconnecting reader sends `Last-Event-ID`. */
function readCursor(request: Request, fromSequence: string | undefined): number | undefined {
  const text = request.get(HEADERS.lastEventId) ?? fromSequence;
  if (text === undefined || text === '') return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new HelixError('validation_error', 'The cursor must be a sequence.');
}
