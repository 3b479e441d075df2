import { toAnswerError } from '../../protocol/answers.js';
import { HelixError } from '../../protocol/errors.js';
import { AnswerBody, CallPath, ExtendBody, LeaseBody } from '../../protocol/http.js';
import { AnswerReply, ExtendReply, LeaseReply } from '../../protocol/replies.js';
import { answerCall, extendDeadline, NOT_TAKEN, toAnswer } from '../acts.js';
import { defineRoute, inJson, SESSION_AND_RUN, type Route } from './route.js';

const pendingCall = {
  method: 'post',
  access: 'owner',
  params: CallPath,
} as const;

const UNANSWERED = ['not_pending', 'already_completed', 'stale_run'] as const;

/** Answers from an inbox or another device. The run continues whether or not a chat is open. */
export const ANSWER_ROUTES: readonly Route[] = [
  defineRoute({
    ...pendingCall,
    path: '/api/chat/:sessionId/pending/:toolCallId',
    id: 'answerCall',
    audits: 'act',
    summary: 'Answer a pending call from anywhere',
    body: AnswerBody,
    replies: inJson(202, 'The answer is stored.', AnswerReply, SESSION_AND_RUN),
    refusals: NOT_TAKEN,
    handle: async (call) => {
      const { response, params, body, record } = call;
      const answer = toAnswer(params.toolCallId, body);
      response.status(202).json(await answerCall(call, record, answer));
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
];
