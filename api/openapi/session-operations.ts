import {
  AnswerBody,
  BranchBody,
  CallPath,
  CheckpointQuery,
  ConversationsQuery,
  ExtendBody,
  LeaseBody,
  MessagesQuery,
  QueueEdit,
  QueueQuery,
  RetryBody,
  SessionPath,
  SnapshotQuery,
  StopBody,
  WaitingQuery,
} from '../../protocol/http.js';
import {
  AnswerReply,
  BranchReply,
  CheckpointsReply,
  Conversations,
  ExtendReply,
  FrontendSnapshot,
  LeaseReply,
  MessagesReply,
  QueueReply,
  RetryReply,
  SessionPending,
  StopReply,
  WaitingSessions,
} from '../../protocol/replies.js';
import { SESSION, SESSION_AND_RUN, type Operation } from './operation.js';

const queue = {
  path: '/api/chat/:sessionId/queue',
  params: SessionPath,
  replies: {
    200: {
      description: 'What waits for its turn now.',
      content: { json: QueueReply },
      headers: SESSION_AND_RUN,
    },
  },
  refusals: ['not_found'],
} as const satisfies Partial<Operation>;

const UNANSWERED = ['not_found', 'not_pending', 'already_completed', 'stale_run'] as const;
const RERUN = ['not_found', 'message_not_found', 'checkpoint_not_found', 'nothing_to_do'] as const;

/** What can be asked of one session, beside talking to it, and of all of one's own. */
export const SESSION_OPERATIONS: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/chat/:sessionId/snapshot',
    id: 'getSnapshot',
    summary: 'What a page needs to start, now or as of a checkpoint',
    params: SessionPath,
    query: SnapshotQuery,
    replies: {
      200: {
        description: 'History, state, what waits, and where the stream stands.',
        content: { json: FrontendSnapshot },
        headers: SESSION_AND_RUN,
      },
    },
    refusals: ['not_found', 'checkpoint_not_found'],
  },
  {
    method: 'get',
    path: '/api/chat/:sessionId/messages',
    id: 'listMessages',
    summary: 'History, page by page',
    params: SessionPath,
    query: MessagesQuery,
    replies: {
      200: {
        description: 'A page, oldest first.',
        content: { json: MessagesReply },
        headers: SESSION_AND_RUN,
      },
    },
    refusals: ['not_found'],
  },
  {
    method: 'get',
    path: '/api/chat/:sessionId/events',
    id: 'followSession',
    summary: 'How the session stands, now and whenever that changes, over pauses and turns',
    params: SessionPath,
    replies: {
      200: {
        description: 'Stays open until the session is erased.',
        content: { events: 'Frames `data: <SessionEvent>` as JSON; the id is its sequence.' },
        headers: SESSION_AND_RUN,
      },
    },
    refusals: ['not_found'],
  },
  {
    method: 'delete',
    path: '/api/chat/:sessionId',
    id: 'deleteChat',
    summary: 'Stops what runs, and erases the session',
    params: SessionPath,
    replies: { 204: { description: 'It is gone.', headers: SESSION_AND_RUN } },
    refusals: ['not_found'],
  },
  {
    method: 'post',
    path: '/api/chat/:sessionId/stop',
    id: 'stopChat',
    summary: 'Stops the run at work; its partial reply is kept',
    params: SessionPath,
    body: StopBody,
    replies: {
      202: {
        description: 'What became of it.',
        content: { json: StopReply },
        headers: SESSION_AND_RUN,
      },
    },
    refusals: ['not_found'],
  },
  {
    method: 'post',
    path: '/api/chat/:sessionId/pending/:toolCallId',
    id: 'answerCall',
    summary: 'Answers a call that waits, from anywhere',
    params: CallPath,
    body: AnswerBody,
    replies: {
      202: {
        description: 'The answer is taken.',
        content: { json: AnswerReply },
        headers: SESSION_AND_RUN,
      },
    },
    refusals: [
      ...UNANSWERED,
      ...(['kind_mismatch', 'expired', 'late_answer_after_timeout', 'answer_too_large'] as const),
      ...(['invalid_result', 'invalid_input'] as const),
    ],
  },
  {
    method: 'post',
    path: '/api/chat/:sessionId/pending/:toolCallId/extend',
    id: 'extendDeadline',
    summary: 'Gives more time for an answer',
    params: CallPath,
    body: ExtendBody,
    replies: {
      202: {
        description: 'The new deadline.',
        content: { json: ExtendReply },
        headers: SESSION_AND_RUN,
      },
    },
    refusals: [...UNANSWERED, 'no_deadline', 'deadline_too_far', 'expired'],
  },
  {
    method: 'post',
    path: '/api/chat/:sessionId/pending/:toolCallId/lease',
    id: 'leaseCall',
    summary: 'Of several pages, lets one carry out a client tool for a while',
    params: CallPath,
    body: LeaseBody,
    replies: {
      200: {
        description: 'The call is its own.',
        content: { json: LeaseReply },
        headers: SESSION_AND_RUN,
      },
    },
    refusals: [...UNANSWERED, 'kind_mismatch', 'call_leased'],
  },
  { ...queue, method: 'get', id: 'getQueue', summary: 'Lists the messages that wait' },
  {
    ...queue,
    method: 'patch',
    id: 'editQueue',
    summary: 'Gives a message that waits another text',
    body: QueueEdit,
    refusals: ['not_found', 'message_not_found', 'message_too_large'],
  },
  {
    ...queue,
    method: 'delete',
    id: 'clearQueue',
    summary: 'Takes back one message that waits, or all',
    query: QueueQuery,
    refusals: ['not_found', 'message_not_found'],
  },
  {
    method: 'post',
    path: '/api/chat/:sessionId/retry',
    id: 'retryChat',
    summary: 'Does a turn again, or goes on behind a checkpoint',
    params: SessionPath,
    body: RetryBody,
    replies: {
      202: {
        description: 'The run that does it.',
        content: { json: RetryReply },
        headers: SESSION_AND_RUN,
      },
    },
    refusals: [
      ...RERUN,
      ...(['agent_already_running', 'agent_not_found', 'not_resumable', 'quota_exceeded'] as const),
    ],
  },
  {
    method: 'post',
    path: '/api/chat/:sessionId/branch',
    id: 'branchChat',
    summary: 'Copies the conversation, up to a checkpoint or a message',
    params: SessionPath,
    body: BranchBody,
    replies: {
      201: { description: 'The copy.', content: { json: BranchReply }, headers: SESSION },
    },
    refusals: [...RERUN, 'session_exists', 'quota_exceeded'],
  },
  {
    method: 'get',
    path: '/api/chat/:sessionId/checkpoints',
    id: 'listCheckpoints',
    summary: 'Where one can go back to',
    params: SessionPath,
    query: CheckpointQuery,
    replies: {
      200: {
        description: 'A page, newest first.',
        content: { json: CheckpointsReply },
        headers: SESSION_AND_RUN,
      },
    },
    refusals: ['not_found'],
  },
  {
    method: 'get',
    path: '/api/conversations',
    id: 'listConversations',
    summary: 'All conversations of the caller',
    query: ConversationsQuery,
    replies: {
      200: {
        description: 'A page, the newest change first.',
        content: { json: Conversations },
      },
    },
  },
  {
    method: 'get',
    path: '/api/sessions',
    id: 'listWaiting',
    summary: 'What waits for people, in all sessions of the caller',
    query: WaitingQuery,
    replies: {
      200: {
        description: 'A page, those first that have waited longest.',
        content: { json: WaitingSessions },
      },
    },
  },
  {
    method: 'get',
    path: '/api/sessions/:sessionId/pending',
    id: 'getPending',
    summary: 'What waits for people in one session',
    params: SessionPath,
    replies: {
      200: {
        description: 'The questions, with the time they have.',
        content: { json: SessionPending },
        headers: SESSION_AND_RUN,
      },
    },
    refusals: ['not_found'],
  },
];
