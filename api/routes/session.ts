import type { Request, Response } from 'express';
import {
  buildPastSnapshot,
  buildSnapshot,
  editQueuedMessage,
  judged,
  loadUIMessages,
  notFound,
  notQueued,
  readSubAgentReport,
  toQueue,
  toReplyHeaders,
  toStaticMessages,
  toToolParts,
  type StaticUIMessage,
  type UIMessage,
} from '../../ai-sdk/index.js';
import { toAnswerError } from '../../protocol/answers.js';
import { HelixError } from '../../protocol/errors.js';
import {
  AnswerBody,
  CallPath,
  ExtendBody,
  LeaseBody,
  MessagesQuery,
  QueueEdit,
  QueueQuery,
  SessionPath,
  SnapshotQuery,
  StopBody,
  SubAgentReport,
} from '../../protocol/http.js';
import {
  AnswerReply,
  EraseQuery,
  ErasureReply,
  ExtendReply,
  FrontendSnapshot,
  LeaseReply,
  MessagesReply,
  QueueReply,
  StopReply,
} from '../../protocol/replies.js';
import { toPerson } from '../../protocol/actor.js';
import { HEADERS } from '../../protocol/ids.js';
import type { SessionCalls, SessionRecord, SessionView } from '../../store/contract/sessions.js';
import { answerCall, extendDeadline, NOT_TAKEN, stopRun, toAnswer } from '../acts.js';
import { writeSnapshotCookie } from '../cookies.js';
import type { RouteDeps } from '../deps.js';
import { toActor } from '../identity.js';
import { createSessionEvents } from '../session-events.js';
import { sendMessages } from '../send-pieces.js';
import { IDLE_KEEP_ALIVE_MS, streamReply } from '../stream-reply.js';
import { defineRoute, inJson, loadOwnSession, SESSION_AND_RUN, type Route } from './route.js';

const owned = { access: 'owner', params: SessionPath } as const;

const pendingCall = {
  method: 'post',
  access: 'owner',
  params: CallPath,
} as const;

const UNANSWERED = ['not_pending', 'already_completed', 'stale_run'] as const;

const queue = {
  path: '/api/chat/:sessionId/queue',
  access: 'owner',
  params: SessionPath,
  replies: inJson(200, 'The messages that wait for their turn.', QueueReply, SESSION_AND_RUN),
} as const;

/** Routes of one session, except the chat. */
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
      const bridge = { ...deps, executor: { runs: deps.executor } };
      if (checkpointId !== undefined) {
        await loadOwnSession(deps.stateStore, sessionId, caller, response);
        const past = await buildPastSnapshot(bridge, { sessionId, checkpointId, caller });
        if (past === null) throw notFound();
        await sendMessages(response, withToolParts(request, past));
        return;
      }
      // `buildSnapshot` checks the owner within its own read.
      const includePartialContent = query.includePartialContent === 'true';
      const asked = { sessionId, caller, includePartialContent };
      const snapshot = await buildSnapshot(bridge, asked);
      if (snapshot === null) throw notFound();
      writeSnapshotCookie(request, response, sessionId, snapshot);
      if (snapshot.run !== undefined) response.set(HEADERS.runId, snapshot.run.runId);
      await sendMessages(response, withToolParts(request, snapshot));
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
      const { sessionId } = params;
      let read: SessionRecord | undefined;
      const judge = (view: SessionView) => {
        read = view.record;
        return judged(deps, caller, view);
      };
      const options = { ...page, filterHidden: hidden !== 'true', judge, caller, follows: true };
      const messages = await loadUIMessages(deps.stateStore, sessionId, options);
      if (read !== undefined && !messages.hasMore) {
        const { stream: status, turnStartSequence: startSequence } = read;
        writeSnapshotCookie(request, response, sessionId, { status, startSequence });
      }
      await sendMessages(response, withToolParts(request, messages));
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
        description: 'The same, while workflows remain to be deleted in Temporal.',
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

  // Answers from an inbox or another device. The run continues whether or not a chat is open.
  defineRoute({
    ...pendingCall,
    path: '/api/chat/:sessionId/pending/:toolCallId',
    id: 'answerCall',
    readsCall: true,
    audits: 'act',
    summary: 'Answer a pending call from anywhere',
    body: AnswerBody,
    replies: inJson(202, 'The answer is stored.', AnswerReply, SESSION_AND_RUN),
    refusals: NOT_TAKEN,
    handle: async (call) => {
      const { response, params, body, record, asked } = call;
      const answer = toAnswer(params.toolCallId, body);
      response.status(202).json(await answerCall(call, { record, call: asked }, answer));
    },
  }),
  defineRoute({
    ...pendingCall,
    path: '/api/chat/:sessionId/pending/:toolCallId/extend',
    id: 'extendDeadline',
    audits: 'act',
    summary: 'Extend the deadline of a pending call',
    body: ExtendBody,
    replies: inJson(202, 'The new deadline.', ExtendReply, SESSION_AND_RUN),
    refusals: [...UNANSWERED, 'not_allowed', 'no_deadline', 'deadline_too_far', 'expired'],
    handle: (call) => {
      const { toolCallId } = call.params;
      return extendDeadline(call, call.record, { toolCallId, ...call.body });
    },
  }),
  defineRoute({
    ...pendingCall,
    path: '/api/chat/:sessionId/pending/:toolCallId/lease',
    id: 'leaseCall',
    audits: 'none',
    summary: 'Claim a client tool call for one of several pages',
    body: LeaseBody,
    replies: inJson(200, 'The page holds the call.', LeaseReply, SESSION_AND_RUN),
    refusals: [...UNANSWERED, 'kind_mismatch', 'call_leased'],
    handle: async ({ deps, response, params: { toolCallId }, body: { holder, forMs }, record }) => {
      const call = { sessionId: record.sessionId, toolCallId };
      const result = await deps.executor.leaseCall({ ...call, holder, forMs });
      if (result.kind === 'held') {
        const detail = { forMs: result.forMs };
        throw new HelixError('call_leased', 'Another page carries out this call.', { detail });
      }
      if (result.kind !== 'leased') throw toAnswerError(result.kind);
      response.json({ result: 'leased', forMs } satisfies LeaseReply);
    },
  }),

  defineRoute({
    ...queue,
    method: 'get',
    id: 'getQueue',
    audits: 'none',
    summary: 'List queued messages',
    handle: sendQueue,
  }),
  defineRoute({
    ...queue,
    method: 'patch',
    id: 'editQueue',
    audits: 'act',
    entry: 'edit',
    summary: 'Edit a queued message',
    body: QueueEdit,
    refusals: ['message_not_found', 'message_too_large'],
    handle: async (call) => {
      const { sessionId } = call.record;
      const asker = toPerson(call.caller.userId, call.caller);
      await editQueuedMessage(call.deps.stateStore, { sessionId, ...call.body, asker });
      await sendQueue(call);
    },
  }),
  defineRoute({
    ...queue,
    method: 'delete',
    id: 'clearQueue',
    audits: 'act',
    entry: 'edit',
    summary: 'Remove one queued message, or all',
    query: QueueQuery,
    refusals: ['message_not_found'],
    handle: async (call) => {
      const { sessionId } = call.record;
      const { id: messageId } = call.query;
      const { count } = await call.deps.stateStore.queue.remove({
        sessionId,
        messageId,
        now: Date.now(),
      });
      if (messageId !== undefined && count === 0) throw notQueued();
      await sendQueue(call);
    },
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

async function sendQueue(call: {
  deps: RouteDeps;
  record: SessionRecord;
  response: Response;
}): Promise<void> {
  const { deps, record, response } = call;
  const waiting = toQueue(await deps.stateStore.queue.read(record.sessionId));
  response.json({ queue: waiting } satisfies QueueReply);
}
