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
import { StopReply } from '../../protocol/replies.js';
import { SESSION_AND_RUN, type Operation } from './operation.js';

const STARTED = {
  202: {
    description: 'The run at work.',
    content: { json: AgentStarted },
    headers: SESSION_AND_RUN,
  },
};
const BEGIN = [
  ...(['not_found', 'agent_not_found', 'agent_required', 'agent_mismatch'] as const),
  ...([
    'agent_already_running',
    'message_conflict',
    'message_too_large',
    'queue_full',
    'quota_exceeded',
  ] as const),
  ...(['nothing_to_do', 'chunk_too_large', 'message_not_found'] as const),
] as const;

const stop = {
  method: 'post',
  body: StopAgentBody,
  replies: {
    202: {
      description: 'What became of it.',
      content: { json: StopReply },
      headers: SESSION_AND_RUN,
    },
  },
  refusals: ['not_found'],
} as const satisfies Partial<Operation>;

/** The surface for programs, and for agents that delegate to this one. */
export const AGENT_OPERATIONS: readonly Operation[] = [
  {
    method: 'post',
    path: '/api/agent/start',
    id: 'startAgent',
    summary: 'Starts a turn, in a new session unless one is named',
    body: StartAgentBody,
    replies: STARTED,
    refusals: BEGIN,
  },
  {
    method: 'post',
    path: '/api/agent/resume',
    id: 'resumeAgent',
    summary: 'Goes on with an interrupted run, leaves one at work alone; or does a turn again',
    body: ResumeAgentBody,
    replies: STARTED,
    refusals: [...BEGIN, 'checkpoint_not_found', 'not_resumable', 'stale_run'],
  },
  {
    method: 'post',
    path: '/api/agent/submit-tool-result',
    id: 'submitToolResult',
    summary: 'Answers a call that waits; the run goes on by itself',
    body: SubmitToolResultBody,
    replies: {
      202: {
        description: 'The answer is taken.',
        content: { json: ToolResultTaken },
        headers: SESSION_AND_RUN,
      },
    },
    refusals: [
      ...(['not_found', 'not_pending', 'already_completed', 'stale_run', 'kind_mismatch'] as const),
      ...(['expired', 'late_answer_after_timeout', 'answer_too_large'] as const),
      ...(['invalid_result', 'invalid_input'] as const),
    ],
  },
  {
    ...stop,
    path: '/api/agent/interrupt',
    id: 'interruptAgent',
    summary: 'Stops the run; it can be resumed',
  },
  {
    ...stop,
    path: '/api/agent/abort',
    id: 'abortAgent',
    summary: 'Stops the run for good',
  },
  {
    method: 'get',
    path: '/api/agent/status',
    id: 'getAgentStatus',
    summary: 'How the newest run of a session stands',
    query: AgentTarget,
    replies: {
      200: {
        description: 'Its state.',
        content: { json: AgentStatus },
        headers: SESSION_AND_RUN,
      },
    },
    refusals: ['not_found'],
  },
  {
    method: 'get',
    path: '/api/agent/sse',
    id: 'followAgent',
    summary: 'The stream as wire events; open across pauses, complete with the end of the run',
    query: AgentEventsQuery,
    headers: ['lastEventId'],
    replies: {
      200: {
        description: 'Wire events.',
        content: { events: 'Frames `data: <event>` as JSON; ids are sequences.' },
        headers: SESSION_AND_RUN,
      },
    },
    refusals: ['not_found', 'rewound'],
  },
];
