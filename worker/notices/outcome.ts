import type { AskedCall, WaitOver } from '../../protocol/notices.js';
import type { OpenCall } from '../../stores/contract/call-record.js';

type Outcome = 'approved' | 'denied' | 'answered' | 'expired' | 'closed';

/** A deadline is one of the store's clock. */
const CLOCKS_MS = 500;

/**
 * How a question was settled: by the record, while it still has the call; else by what the run knew
 * when its wait was over. Pure.
 */
export function outcomeOf(
  { toolCallId, kind, deadline = Infinity }: AskedCall,
  found: Pick<OpenCall, 'decision' | 'row'> | undefined,
  over: WaitOver | undefined,
  now: number,
): Outcome {
  const decision = found?.decision;
  const isOverdue = decision === undefined && over?.stopped !== true && now >= deadline - CLOCKS_MS;
  if (isOverdue || decision?.automatic === true) return 'expired';
  if (decision !== undefined) return decision.approved ? 'approved' : 'denied';
  if (over?.stopped === true) return 'closed';
  if (over?.approved?.includes(toolCallId) === true) return 'approved';
  if (over?.approved === undefined) return 'closed';
  return kind === 'approval' ? 'denied' : 'answered';
}
