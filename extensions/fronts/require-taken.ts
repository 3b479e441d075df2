import type { RejectedIntent, StreamedReply } from '../../ai-sdk/index.js';
import { toAnswerError, type AnswerRefusal } from '../../protocol/answers.js';

/**
 * A chat page reads in the stream why its answers were not taken; clients of other protocols would take
 * such a stream for a reply.
 *
 * @throws HelixError why the first answer was not taken, if the reply says nothing else
 */
export function requireTaken({ rejected = [] }: StreamedReply): void {
  const [first] = rejected;
  if (first !== undefined) throw toAnswerError(REFUSALS[first.reason]);
}

const REFUSALS: Record<RejectedIntent['reason'], AnswerRefusal> = {
  'stale-run': 'stale_run',
  'not-pending': 'not_pending',
  'already-completed': 'already_completed',
  'kind-mismatch': 'kind_mismatch',
  expired: 'expired',
};
