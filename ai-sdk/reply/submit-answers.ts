import { HelixError } from '../../protocol/errors.js';
import type { SessionCalls } from '../../stores/contract/sessions.js';
import type { AnswerResult } from '../../stores/record/submit-answer.js';
import type { ChatDeps, HandleChatStreamParams } from './types.js';
import type { RejectedIntent, ResumeIntents } from './resume-intent.js';

/** The outcome of posted answers. */
export interface Submission {
  /** Calls whose answers were stored. */
  stored: string[];
  /** Sequence at which the run continued, if these answers completed its batch. */
  resumedAt?: number;
  rejected: RejectedIntent[];
}

/**
 * Submits answers one after another; the first answer to a call counts, whichever client sent it.
 *
 * @param session as it was read for this request: the store's transition decides on what it is now
 * @throws HelixError for an answer that does not fit its call, after the others were submitted: that
 * call still waits, and only the page can correct it
 */
export async function submitAnswers(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  session: Partial<SessionCalls> | undefined,
  { intents, rejected }: ResumeIntents,
): Promise<Submission> {
  const { sessionId, userId: by } = params;
  const { record, openCalls } = session ?? {};
  const known = record && openCalls && { record, openCalls };
  const submission: Submission = { stored: [], rejected: [...rejected] };
  let unfit: HelixError | undefined;
  for (const intent of intents) {
    try {
      const result = await deps.executor.submitToolResult({ sessionId, by, ...intent }, known);
      if (result.kind !== 'stored') {
        submission.rejected.push({ toolCallId: intent.toolCallId, reason: REASONS[result.kind] });
        continue;
      }
      submission.stored.push(intent.toolCallId);
      if (result.resume !== undefined) submission.resumedAt = result.sequence;
    } catch (error) {
      if (!HelixError.isInstance(error) || error.statusCode >= 500) throw error;
      unfit ??= error;
    }
  }
  if (unfit !== undefined) throw unfit;
  return submission;
}

const REASONS: Record<Exclude<AnswerResult['kind'], 'stored'>, RejectedIntent['reason']> = {
  already_completed: 'already-completed',
  not_pending: 'not-pending',
  kind_mismatch: 'kind-mismatch',
  stale_run: 'stale-run',
  expired: 'expired',
  late: 'expired',
};
