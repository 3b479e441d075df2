import { HelixError } from '../../protocol/errors.js';
import type { AnswerResult } from '../../stores/record/submit-answer.js';
import type { ChatDeps, HandleChatStreamParams } from './types.js';
import type { RejectedIntent, ResumeIntent, ResumeIntents } from './resume-intent.js';

/** What became of posted answers. */
export interface Submission {
  /** Calls whose answers were taken. */
  stored: string[];
  /** Sequence at which the run went on, if these answers completed its batch. */
  resumedAt?: number;
  rejected: RejectedIntent[];
}

/**
 * Gives answers to the run, one after another; the first answer to a call counts, whoever gave it.
 *
 * @throws HelixError for an answer that does not fit its call, when the others have been given: that
 * call still waits, and only the page can do something about it
 */
export async function submitAnswers(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  { intents, rejected }: ResumeIntents,
): Promise<Submission> {
  const submission: Submission = { stored: [], rejected: [...rejected] };
  let unfit: HelixError | undefined;
  for (const intent of intents) {
    try {
      const result = await submit(deps, params, intent);
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

function submit(
  deps: ChatDeps,
  { sessionId, userId }: HandleChatStreamParams,
  intent: ResumeIntent,
): Promise<AnswerResult> {
  const by = userId === undefined ? {} : { by: userId };
  return deps.executor.submitToolResult({ sessionId, ...intent, ...by });
}
