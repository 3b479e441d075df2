import { randomUUID } from 'node:crypto';
import type { Request } from 'express';
import {
  decideReply,
  toCaller,
  toReplyHeaders,
  type HandleChatStreamParams,
} from '../../ai-sdk/index.js';
import { HelixError } from '../../protocol/errors.js';
import { ChatQuery, ChatRequest, SessionPath, type PostedMessage } from '../../protocol/http.js';
import { HEADERS } from '../../protocol/ids.js';
import { NOT_TAKEN, type ActRequest } from '../acts.js';
import { readSnapshotCookie } from '../cookies.js';
import { streamReply, untilExpiry } from '../stream-reply.js';
import { defineRoute, SESSION, SESSION_AND_RUN, type Route } from './route.js';

const STREAM = {
  description: "The turn as a UI message stream of the AI SDK; an event's id is its sequence.",
  content: { events: 'Frames `data: <part>` as JSON, at the end `data: [DONE]`.' },
  headers: SESSION_AND_RUN,
};
const NOTHING = { description: 'There is nothing to follow.', headers: SESSION };
const POSITION = [
  'resumeFromSequence',
  'lastEventId',
  'resumeAt',
  'profile',
  'subAgents',
  'toolParts',
] as const;

const say = {
  method: 'post',
  summary: 'Send a message, answer calls, edit a message, or ask for another reply',
  query: ChatQuery,
  headers: [...POSITION, 'existingMessageId'],
  body: ChatRequest,
  replies: { 200: STREAM, 204: NOTHING },
  refusals: [
    'agent_not_found',
    'agent_required',
    'agent_mismatch',
    'agent_already_running',
    'queue_full',
    'quota_exceeded',
    'budget_exceeded',
    'message_conflict',
    'message_not_found',
    'checkpoint_not_found',
    'nothing_to_do',
    'message_too_large',
    'not_found',
    'client_out_of_step',
    'not_resumable',
    'stale_state',
    'rewound',
    'stream_truncated',
    ...NOT_TAKEN,
  ],
} as const;

const follow = {
  method: 'get',
  audits: 'none',
  summary: 'Follow the active turn; strangers get 204',
  params: SessionPath,
  headers: POSITION,
  replies: { 200: STREAM, 204: NOTHING },
  refusals: ['rewound', 'stream_truncated'],
  handle: (call: ActRequest & { params: SessionPath }) =>
    reply(call, {
      sessionId: call.params.sessionId,
      messages: [],
      sawActiveSince: readSnapshotCookie(call.request),
    }),
} as const;

/** The bridge checks the owner of these routes, since a stranger's reply depends on the request. */
export const CHAT_ROUTES: readonly Route[] = [
  defineRoute({
    ...say,
    path: '/api/chat',
    id: 'postChat',
    audits: 'act',
    handle: async (call) => {
      const { id } = call.body;
      if (id === undefined) throw new HelixError('validation_error', 'The body needs an id.');
      await reply(call, { sessionId: id, ...toParams(call) });
    },
  }),
  defineRoute({
    ...say,
    path: '/api/chat/:sessionId',
    id: 'postChatSession',
    audits: 'act',
    params: SessionPath,
    handle: async (call) => {
      const { sessionId } = call.params;
      const { id = sessionId } = call.body;
      if (id !== sessionId) {
        throw new HelixError('validation_error', "The body's id is not the id of the path.");
      }
      await reply(call, { sessionId, ...toParams(call) });
    },
  }),
  defineRoute({ ...follow, path: '/api/chat/:sessionId', id: 'followChat' }),
  defineRoute({ ...follow, path: '/api/chat/:sessionId/stream', id: 'followChatStream' }),
];

/** Converts a request to parameters of the bridge. */
function toParams(input: {
  body: ChatRequest;
  query: ChatQuery;
}): Omit<HandleChatStreamParams, 'sessionId'> {
  const { body, query } = input;
  const { messages, message, trigger, messageId } = body;
  return {
    messages: messages ?? (message === undefined ? [] : [toMessage(message)]),
    trigger,
    messageId,
    agent: body.agent ?? query.agent,
    busy: body.busy ?? query.busy,
  };
}

function toMessage(message: NonNullable<ChatRequest['message']>): PostedMessage {
  if (typeof message !== 'string') return message;
  return { id: randomUUID(), role: 'user', parts: [{ type: 'text', text: message }] };
}

async function reply(call: ActRequest, params: HandleChatStreamParams): Promise<void> {
  const { deps, request, response } = call;
  const { sessionId } = params;
  response.set(toReplyHeaders(sessionId));
  const decided = await decideReply(deps, {
    ...params,
    ...toCaller(call.caller),
    request: { method: request.method, headers: toHeaders(request) },
  });
  const headers = toReplyHeaders(sessionId, decided);
  response.set(headers);
  if (decided.kind === 'refused') throw decided.error;
  if (decided.kind === 'nothing') {
    response.status(204).end();
    return;
  }
  await streamReply(call, untilExpiry(decided.frames, call), { sessionId, headers });
}

function toHeaders(request: Request): Headers {
  const headers = new Headers();
  for (const name of Object.values(HEADERS)) {
    const value = request.get(name);
    if (value !== undefined) headers.set(name, value);
  }
  return headers;
}
