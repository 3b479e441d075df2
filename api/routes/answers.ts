import { toAnswerOptions } from '../../ai-sdk/index.js';
import { toAnswerError } from '../../protocol/answers.js';
import { HelixError } from '../../protocol/errors.js';
import { AnswerBody, CallPath, ExtendBody, LeaseBody } from '../../protocol/http.js';
import { AnswerReply, ExtendReply, LeaseReply } from '../../protocol/replies.js';
import type { AnswerResult } from '../../stores/record/submit-answer.js';
import { toActor } from '../actor.js';
import { defineRoute, SESSION_AND_RUN, type Route } from './route.js';

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
    replies: {
      202: {
        description: 'The answer is stored.',
        content: { json: AnswerReply },
        headers: SESSION_AND_RUN,
      },
    },
    refusals: [
      ...UNANSWERED,
      'kind_mismatch',
      'expired',
      'late_answer_after_timeout',
      'answer_too_large',
      'invalid_result',
      'invalid_input',
      'not_allowed',
    ],
    handle: async (call) => {
      const { deps, response, params, body, record, caller } = call;
      const { sessionId } = record;
      const target = { sessionId, toolCallId: params.toolCallId, by: caller.userId };
      const answer = { ...target, ...toAnswer(body) };
      const options = toAnswerOptions(deps, caller, toActor(call), { record });
      const result = await deps.executor.submitToolResult(answer, options);
      response.status(202).json(toAnswerReply(result));
    },
  }),
  defineRoute({
    ...pendingCall,
    path: '/api/chat/:sessionId/pending/:toolCallId/extend',
    id: 'extendDeadline',
    audits: 'act',
    summary: 'Extend the deadline of a pending call',
    body: ExtendBody,
    replies: {
      202: {
        description: 'The new deadline.',
        content: { json: ExtendReply },
        headers: SESSION_AND_RUN,
      },
    },
    refusals: [...UNANSWERED, 'not_allowed', 'no_deadline', 'deadline_too_far', 'expired'],
    handle: async (call) => {
      const { deps, response, params, body, record, caller } = call;
      const { toolCallId } = params;
      const target = { sessionId: record.sessionId, toolCallId, ...body };
      const result = await deps.executor.extendDeadline(
        { ...target, ...toActor(call) },
        { responder: caller },
      );
      if (result.kind !== 'extended') throw toAnswerError(result.kind);
      const { deadline } = result;
      response.status(202).json({ result: 'extended', deadline } satisfies ExtendReply);
    },
  }),
  defineRoute({
    ...pendingCall,
    path: '/api/chat/:sessionId/pending/:toolCallId/lease',
    id: 'leaseCall',
    audits: 'none',
    summary: 'Claim a client tool call for one of several pages',
    body: LeaseBody,
    replies: {
      200: {
        description: 'The page holds the call.',
        content: { json: LeaseReply },
        headers: SESSION_AND_RUN,
      },
    },
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

/** @throws HelixError for an answer that was not taken */
export function toAnswerReply(result: AnswerResult): AnswerReply {
  if (result.kind !== 'stored' && result.kind !== 'edited') throw toAnswerError(result.kind);
  const resumed = result.kind === 'stored' && result.resume !== undefined;
  return { result: result.kind, sequence: result.sequence, resumed };
}

function toAnswer(body: AnswerBody): object {
  if ('approved' in body) return { kind: 'approval-response', ...body };
  return { kind: 'client-tool-result', ...body };
}
