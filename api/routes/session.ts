import {
  buildPastSnapshot,
  buildSnapshot,
  judged,
  loadUIMessages,
  notFound,
  readSubAgentReport,
  toReplyHeaders,
  toStaticMessages,
  toToolParts,
  type StaticUIMessage,
  type UIMessage,
} from '../../ai-sdk/index.js';
import {
  CallPath,
  MessagesQuery,
  SessionPath,
  SnapshotQuery,
  StopBody,
} from '../../protocol/http.js';
import { HEADERS } from '../../protocol/wire-names.js';
import {
  FrontendSnapshot,
  MessagesReply,
  StopReply,
  EraseQuery,
  ErasureReply,
} from '../../protocol/replies.js';
import type { SessionCalls, SessionView } from '../../store/contract/sessions.js';
import { SubAgentReport } from '../../protocol/wire-events.js';
import { stopRun } from '../acts.js';
import { toActor } from '../identity.js';
import { loadOwnSession, defineRoute, inJson, SESSION_AND_RUN, type Route } from './route.js';
import { createSessionEvents } from '../session-events.js';
import { writeSnapshotCookie } from '../cookies.js';
import { IDLE_KEEP_ALIVE_MS, streamReply } from '../stream-reply.js';
import type { Request } from 'express';

const owned = { access: 'owner', params: SessionPath } as const;

export const SESSION_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/chat/:sessionId/snapshot',
    id: 'getSnapshot',
    audits: 'none',
    summary: 'Get what a page starts with, now or as of a checkpoint',
    params: SessionPath,
    query: SnapshotQuery,
    headers: ['toolParts'],
    replies: inJson(
      200,
      'History, state, open questions, and the position of the stream.',
      FrontendSnapshot,
      SESSION_AND_RUN,
    ),
    refusals: ['not_found', 'checkpoint_not_found'],
    handle: async ({ deps, request, response, params: { sessionId }, query, caller }) => {
      const { checkpointId } = query;
      if (checkpointId !== undefined) {
        await loadOwnSession(deps.stateStore, sessionId, caller, response);
        const past = await buildPastSnapshot(
          { ...deps, executor: { runs: deps.executor } },
          { sessionId, checkpointId, caller },
        );
        if (past === null) throw notFound();
        response.json(withToolParts(request, past));
        return;
      }
      // `buildSnapshot` checks the owner within its own read.
      const includePartialContent = query.includePartialContent === 'true';
      const snapshot = await buildSnapshot(
        { ...deps, executor: { runs: deps.executor } },
        { sessionId, caller, includePartialContent },
      );
      if (snapshot === null) throw notFound();
      writeSnapshotCookie(request, response, sessionId, snapshot);
      if (snapshot.run !== undefined) response.set(HEADERS.runId, snapshot.run.runId);
      response.json(withToolParts(request, snapshot));
    },
  }),
  defineRoute({
    ...owned,
    method: 'get',
    path: '/api/chat/:sessionId/messages',
    id: 'listMessages',
    audits: 'none',
    summary: 'List messages, page by page',
    query: MessagesQuery,
    headers: ['toolParts'],
    replies: inJson(200, 'A page, oldest first.', MessagesReply, SESSION_AND_RUN),
    handle: async ({ deps, request, response, query: { hidden, ...page }, params, caller }) => {
      const judge = (view: SessionView) => judged(deps, caller, view);
      const options = { ...page, filterHidden: hidden !== 'true', judge, caller };
      const messages = await loadUIMessages(deps.stateStore, params.sessionId, options);
      response.json(withToolParts(request, messages));
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/chat/:sessionId/sub-agents/:toolCallId',
    id: 'getSubAgentReport',
    audits: 'none',
    summary: 'Get what sub-agents did for a call',
    access: 'owner',
    params: CallPath,
    replies: inJson(
      200,
      'The newest part of it, oldest first; empty if nothing is stored of it.',
      SubAgentReport,
      SESSION_AND_RUN,
    ),
    handle: async ({ deps, response, params, record }) => {
      const events = await readSubAgentReport(deps.stateStore, record.sessionId, params.toolCallId);
      response.json({ events } satisfies SubAgentReport);
    },
  }),
  defineRoute({
    ...owned,
    method: 'get',
    path: '/api/chat/:sessionId/events',
    id: 'followSession',
    audits: 'none',
    summary: 'Follow the state of the session, across pauses and turns',
    replies: {
      200: {
        description: 'Stays open until the session is erased.',
        content: { events: 'Frames `data: <SessionEvent>` as JSON; the id is its sequence.' },
        headers: SESSION_AND_RUN,
      },
    },
    handle: async (call) => {
      const { deps, params, record, caller } = call;
      const judge = (found: SessionCalls) => judged(deps, caller, found);
      const events = { ...deps, judge, isHeld: deps.executor.pauses.isHeld };
      await streamReply(call, (signal) => createSessionEvents(events, record.sessionId, signal), {
        sessionId: params.sessionId,
        headers: toReplyHeaders(params.sessionId, record),
        isEndless: true,
        keepAliveMs: IDLE_KEEP_ALIVE_MS,
      });
    },
  }),
  defineRoute({
    ...owned,
    method: 'delete',
    path: '/api/chat/:sessionId',
    id: 'deleteChat',
    audits: 'act',
    summary: 'Stop the run and erase the session',
    query: EraseQuery,
    replies: {
      200: {
        description: 'What was erased, if the query asks for the receipt.',
        content: { json: ErasureReply },
        headers: SESSION_AND_RUN,
      },
      202: {
        description: 'The same, while Temporal has not deleted all workflows yet.',
        content: { json: ErasureReply },
        headers: SESSION_AND_RUN,
      },
      204: { description: 'The session is erased.', headers: SESSION_AND_RUN },
    },
    handle: async (call) => {
      const { deps, response, params, query, record } = call;
      const { sessionId } = params;
      const receipt = await deps.executor.deleteSession(record.sessionId, toActor(call));
      deps.logger.info({ sessionId }, 'a conversation was erased');
      if (query.receipt !== 'true' || receipt === undefined) response.status(204).end();
      else response.status(receipt.complete ? 200 : 202).json(receipt satisfies ErasureReply);
    },
  }),
  defineRoute({
    ...owned,
    method: 'post',
    path: '/api/chat/:sessionId/stop',
    id: 'stopChat',
    audits: 'act',
    summary: 'Stop the active run; its partial reply is kept',
    body: StopBody,
    replies: inJson(202, 'The effect of the stop.', StopReply, SESSION_AND_RUN),
    handle: (call) => stopRun(call, call.record, call.body),
  }),
];

/** Converts the calls in a reply's messages to the parts that the request asks for. */
function withToolParts<Reply extends { messages: UIMessage[] }>(
  request: Request,
  reply: Reply,
): Reply | (Omit<Reply, 'messages'> & { messages: StaticUIMessage[] }) {
  if (toToolParts(request.get(HEADERS.toolParts)) === 'dynamic') return reply;
  return { ...reply, messages: toStaticMessages(reply.messages) };
}
