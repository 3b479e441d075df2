import type { SettleCallResult } from '../stores/session-store.js';
import type { ChatDeps, HandleChatStreamParams } from './chat-reply.js';
import type { RejectedIntent, ResumeIntent, ResumeIntents } from './extract-resume-intent.js';

/** What became of posted answers. */
export interface Submission {
  /** How many were taken. */
  stored: number;
  /** Sequence at which the run went on, if these answers completed its batch. */
  resumedAt?: number;
  rejected: RejectedIntent[];
}

/** Gives answers to the run, one after another; the first answer to a call counts, whoever gave it. */
export async function submitAnswers(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  { intents, rejected }: ResumeIntents,
): Promise<Submission> {
  const submission: Submission = { stored: 0, rejected: [...rejected] };
  for (const intent of intents) {
    const result = await submit(deps, params, intent);
    if (result.kind !== 'stored') {
      submission.rejected.push({ toolCallId: intent.toolCallId, reason: REASONS[result.kind] });
      continue;
    }
    submission.stored += 1;
    if (result.resume !== undefined) submission.resumedAt = result.sequence;
  }
  return submission;
}

const REASONS: Record<Exclude<SettleCallResult['kind'], 'stored'>, RejectedIntent['reason']> = {
  already_completed: 'already-completed',
  not_pending: 'not-pending',
  kind_mismatch: 'kind-mismatch',
  stale_run: 'stale-run',
  fenced: 'stale-run',
  expired: 'expired',
  late: 'expired',
  not_due: 'not-pending',
};

async function submit(
  deps: ChatDeps,
  { sessionId, userId }: HandleChatStreamParams,
  intent: ResumeIntent,
): Promise<SettleCallResult> {
  // Results of client tools have no taker yet.
  if (intent.kind !== 'approval-response') return { kind: 'not_pending' };
  const by = userId === undefined ? {} : { by: userId };
  return deps.executor.submitToolResult({ sessionId, ...intent, ...by });
}
