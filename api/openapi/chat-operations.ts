import { ChatQuery, ChatRequest, SessionPath } from '../../protocol/http.js';
import { SESSION, SESSION_AND_RUN, type Operation } from './operation.js';

const STREAM = {
  description: "The turn as a UI message stream of the AI SDK; an event's id is its sequence.",
  content: { events: 'Frames `data: <part>` as JSON, at the end `data: [DONE]`.' },
  headers: SESSION_AND_RUN,
};
const NOTHING = { description: 'There is nothing to follow.', headers: SESSION };
const POSITION = ['resumeFromSequence', 'lastEventId', 'resumeAt', 'profile'] as const;

const say = {
  method: 'post',
  summary: 'Says something, answers calls, edits a message, or asks for another reply',
  query: ChatQuery,
  headers: [...POSITION, 'existingMessageId'],
  body: ChatRequest,
  replies: { 200: STREAM, 204: NOTHING },
  refusals: [
    ...['agent_not_found', 'agent_required', 'agent_mismatch', 'agent_already_running'],
    ...[
      'queue_full',
      'quota_exceeded',
      'message_conflict',
      'message_not_found',
      'checkpoint_not_found',
    ],
    ...['nothing_to_do', 'message_too_large', 'not_found', 'client_out_of_step'],
    ...['answer_too_large', 'invalid_result', 'invalid_input', 'not_resumable', 'stale_state'],
    ...['already_completed', 'not_pending', 'kind_mismatch', 'stale_run', 'expired'],
    ...['late_answer_after_timeout', 'rewound', 'stream_truncated'],
  ],
} as const satisfies Partial<Operation>;

const follow = {
  method: 'get',
  summary: 'Follows the turn at work; nothing for strangers',
  params: SessionPath,
  headers: POSITION,
  replies: { 200: STREAM, 204: NOTHING },
  refusals: ['rewound', 'stream_truncated'],
} as const satisfies Partial<Operation>;

/** The chat itself. */
export const CHAT_OPERATIONS: readonly Operation[] = [
  { ...say, path: '/api/chat', id: 'postChat' },
  { ...say, path: '/api/chat/:sessionId', id: 'postChatSession', params: SessionPath },
  { ...follow, path: '/api/chat/:sessionId', id: 'followChat' },
  { ...follow, path: '/api/chat/:sessionId/stream', id: 'followChatStream' },
];
